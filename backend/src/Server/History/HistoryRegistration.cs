using Sluice.Server.Events;

namespace Sluice.Server.History;

/// <summary>Puts the history together.</summary>
internal static class HistoryRegistration
{
    /// <summary>Adds the stores.</summary>
    public static IServiceCollection AddHistory(this IServiceCollection services) => services
        .AddSingleton<ItemPasswords>()
        .AddSingleton<HistoryStore>()
        .AddSingleton<HistoryListStore>()
        .AddSingleton<CompletedStore>()
        .AddSingleton(HistoryStore.NzbReference)
        .AddSingleton(provider => HistoryItemsChanged.Watch(provider.GetRequiredService<EventFeed>()));
}
