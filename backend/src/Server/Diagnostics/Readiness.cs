using System.Data.Common;
using Dapper;
using Sluice.Server.Database;

namespace Sluice.Server.Diagnostics;

internal interface ISetup
{
    bool IsNeeded { get; }
}

/// <summary>Whether the tree is readable now, and if not, why (ADM-30).</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class Readiness(SluiceDatabase database, SafeMode safeMode, StorageState storage, ISetup setup, IHostApplicationLifetime lifetime)
{
    /// <summary>The database is corrupt or belongs to other blobs, so Sluice runs without it until a restart (CFG-15).</summary>
    public bool IsSafeMode => safeMode.IsOn;

    /// <summary>Whether the web UI asks for the first administrator. WebDAV has its own credentials and works anyway (S7).</summary>
    public bool NeedsSetup => setup.IsNeeded;

    /// <summary>The reason of safe mode for clients; null while off.</summary>
    public string? SafeModeSentence => safeMode.Sentence;

    /// <summary>Why writes are refused although the tree is readable, in one word; null if they work.</summary>
    public string? WriteObstacle => storage.Faults switch
    {
        [] => null,
        var faults when faults.Any(fault => fault.Fault == StorageFault.Full) => "disk",
        _ => "storage",
    };

    /// <summary>Why the tree is not readable, in one word; null if it is.</summary>
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
