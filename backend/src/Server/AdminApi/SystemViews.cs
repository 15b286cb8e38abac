using System.Diagnostics;
using System.Runtime.CompilerServices;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Outbound;
using Sluice.Server.Providers;
using Sluice.Server.Settings;
using Sluice.Usenet.Nntp;

namespace Sluice.Server.AdminApi;

/// <summary>The server itself, as shown by the API. Thread-safe.</summary>
internal sealed class SystemViews(DataFolder folder, Readiness readiness, ProviderHost providers, IOptionsMonitor<UsenetOptions> usenet, UpdateFeed updates)
{
    public SystemState Show()
    {
        using var process = Process.GetCurrentProcess();
        return new SystemState(
            BuildInfo.Version,
            BuildInfo.Commit,
            RuntimeFeature.IsDynamicCodeSupported ? "ordinary" : $"native {WiderBuild.Name}",
            process.StartTime.ToUniversalTime(),
            readiness.IsSafeMode ? "safe" : "normal",
            process.WorkingSet64,
            usenet.CurrentValue.ArticleBudgetWithin(GC.GetGCMemoryInfo().TotalAvailableMemoryBytes),
            FreeBytes(folder.Root),
            providers.Effective(OperationLane.Playback),
            providers.Effective(OperationLane.Import),
            Checks(),
            updates.Newer is { } newer ? new NewerVersion(newer.Version.ToString(), newer.Notes) : null);
    }

    private List<SelfCheck> Checks() =>
    [
        new("Database", !readiness.IsSafeMode, readiness.SafeModeSentence ?? "The database is in use."),
        readiness.WriteObstacle switch
        {
            null => new("Storage", true, "The data folder can be written to."),
            "disk" => new("Storage", false, "The disk of the data folder is full."),
            _ => new("Storage", false, "The data folder cannot be written to. The log says why."),
        },
    ];

    private static long? FreeBytes(string folder)
    {
        try
        {
            return new DriveInfo(folder).AvailableFreeSpace;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or ArgumentException)
        {
            // In the response, null means unknown.
            return null;
        }
    }
}
