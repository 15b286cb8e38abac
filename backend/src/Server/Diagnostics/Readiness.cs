using System.Data.Common;
using Dapper;
using Sluice.Server.Database;

namespace Sluice.Server.Diagnostics;

internal interface ISetup
{
    bool IsNeeded { get; }
}

/// <summary>Whether the tree is readable now and, if not, why (ADM-30).</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class Readiness(SluiceDatabase database, SafeMode safeMode, StorageState storage, ISetup setup, IHostApplicationLifetime lifetime)
{
    /// <summary>Whether Sluice runs without its database until a restart, because the database is corrupt or belongs to other blobs (CFG-15).</summary>
    public bool IsSafeMode => safeMode.IsOn;

    /// <summary>Whether the web UI asks for the first administrator. WebDAV works regardless, because it has its own credentials (S7).</summary>
    public bool NeedsSetup => setup.IsNeeded;

    /// <summary>The reason for safe mode as a sentence for clients; null while safe mode is off.</summary>
    public string? SafeModeSentence => safeMode.Sentence;

    /// <summary>One word for why writes are refused while the tree is readable; null if writes work.</summary>
    public string? WriteObstacle => storage.Faults switch
    {
        [] => null,
        var faults when faults.Any(fault => fault.Fault == StorageFault.Full) => "disk",
        _ => "storage",
    };

    /// <summary>Returns one word for why the tree is not readable; null if it is readable.</summary>
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
