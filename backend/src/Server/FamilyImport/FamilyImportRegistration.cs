using Sluice.Server.Auth;
using Sluice.Server.Diagnostics;

namespace Sluice.Server.FamilyImport;

/// <summary>Puts the import of old libraries together.</summary>
internal static class FamilyImportRegistration
{
    /// <summary>Adds the worker, and the part of it that comes before the first secrets are made.</summary>
    public static IServiceCollection AddFamilyImport(this IServiceCollection services) => services
        .AddSingleton<ReleaseTaker>()
        .AddSingleton<FamilyImporter>()
        .AddSingleton<FamilyImportStore>()
        .AddSingleton<FamilyImportWorker>()
        .AddSingleton<IFormerServer>(provider => provider.GetRequiredService<FamilyImportWorker>())
        .AddSingleton<IWorker>(provider => provider.GetRequiredService<FamilyImportWorker>());
}
