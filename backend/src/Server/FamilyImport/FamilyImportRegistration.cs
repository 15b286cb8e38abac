using Sluice.Server.Auth;
using Sluice.Server.Diagnostics;

namespace Sluice.Server.FamilyImport;

internal static class FamilyImportRegistration
{
    /// <summary>Adds the import worker. It also runs before the first secrets are generated, because it may import secrets.</summary>
    public static IServiceCollection AddFamilyImport(this IServiceCollection services) => services
        .AddSingleton<ReleaseTaker>()
        .AddSingleton<FamilyImporter>()
        .AddSingleton<LibraryHealing>()
        .AddSingleton<FamilyImportStore>()
        .AddSingleton<FamilyImportWorker>()
        .AddSingleton<IFormerServer>(provider => provider.GetRequiredService<FamilyImportWorker>())
        .AddSingleton<IWorker>(provider => provider.GetRequiredService<FamilyImportWorker>());
}
