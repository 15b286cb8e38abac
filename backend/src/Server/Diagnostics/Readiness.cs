using Dapper;
using Microsoft.Data.Sqlite;
using Sluice.Server.Database;

namespace Sluice.Server.Diagnostics;

/// <summary>Whether the tree can be read right now, and if not, why (ADM-30).</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class Readiness(SluiceDatabase database, IHostApplicationLifetime lifetime)
{
    private volatile bool _databaseLost;

    /// <summary>The database could not be opened, because it is damaged: Sluice runs without it until it is restored (CFG-15).</summary>
    public bool IsSafeMode => _databaseLost;

    /// <summary>Enters safe mode.</summary>
    public void LoseDatabase() => _databaseLost = true;

    /// <summary>One word, or null when the tree can be read.</summary>
    public async Task<string?> FindObstacleAsync(CancellationToken cancellationToken)
    {
        if (lifetime.ApplicationStopping.IsCancellationRequested)
            return "stopping";
        if (_databaseLost)
            return "database";
        if (!database.IsOpen || !lifetime.ApplicationStarted.IsCancellationRequested)
            return "starting";

        try
        {
            await database.ReadAsync(connection => connection.ExecuteScalar<long>("SELECT count(*) FROM setting WHERE key = ''"), cancellationToken);
            return null;
        }
        catch (SqliteException)
        {
            return "database";
        }
    }
}
