using System.Data.Common;
using Dapper;
using Sluice.Server.Database;

namespace Sluice.Server.Diagnostics;

/// <summary>Knows whether there is an administrator.</summary>
internal interface ISetup
{
    /// <summary>There is none yet.</summary>
    bool IsNeeded { get; }
}

/// <summary>Whether the tree can be read right now, and if not, why (ADM-30).</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class Readiness(SluiceDatabase database, SafeMode safeMode, StorageState storage, ISetup setup, IHostApplicationLifetime lifetime)
{
    /// <summary>The database is damaged, or not that of the blobs: Sluice runs without it until another start (CFG-15).</summary>
    public bool IsSafeMode => safeMode.IsOn;

    /// <summary>The web UI asks for the first administrator. The tree has credentials of its own and is served (S7).</summary>
    public bool NeedsSetup => setup.IsNeeded;

    /// <summary>The reason of safe mode for clients; null while it is off.</summary>
    public string? SafeModeSentence => safeMode.Sentence;

    /// <summary>Why writes are refused while the tree can be read, in one word; null where they are not.</summary>
    public string? WriteObstacle => storage.Faults switch
    {
        [] => null,
        var faults when faults.Any(fault => fault.Fault == StorageFault.Full) => "disk",
        _ => "storage",
    };

    /// <summary>One word, or null when the tree can be read.</summary>
    public async Task<string?> FindObstacleAsync(CancellationToken cancellationToken)
    {
        if (lifetime.ApplicationStopping.IsCancellationRequested)
            return "stopping";
        if (IsSafeMode)
            return "database";
        if (!database.IsOpen || !lifetime.ApplicationStarted.IsCancellationRequested)
            return "starting";

        try
        {
            await database.ReadAsync(connection => connection.ExecuteScalar<long>("SELECT count(*) FROM setting WHERE key = ''"), cancellationToken);
            return null;
        }
        catch (Exception e) when (e is DbException or StorageException)
        {
            return "database";
        }
    }
}
