using Sluice.Server.Database;

namespace Sluice.Server.History;

/// <summary>Puts the history together.</summary>
internal static class HistoryRegistration
{
    /// <summary>Adds the store.</summary>
    public static IServiceCollection AddHistory(this IServiceCollection services) => services
        .AddSingleton<HistoryStore>()
        .AddSingleton<IBlobReferences>(provider => provider.GetRequiredService<HistoryStore>());
}
