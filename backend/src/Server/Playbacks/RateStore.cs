using System.Data.Common;
using Dapper;
using Sluice.Server.Database;
using Sluice.Server.Providers;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Playbacks;

/// <summary>Keeps the traffic of each minute for 30 days (OPS-40). Saved with other learned data twice a minute, unless nothing changed.</summary>
/// <remarks>Thread-safe. <c>_gate</c> guards unsaved minutes and is held across no call except to the providers' counters.</remarks>
internal sealed class RateStore(ThroughputSampler sampler, ProviderHost providers, SluiceDatabase database, TimeProvider time) : ILearnedMemory
{
    private static readonly TimeSpan Retention = TimeSpan.FromDays(30);
    private static readonly TimeSpan PruneInterval = TimeSpan.FromDays(1);

    private readonly Lock _gate = new();
    private readonly Dictionary<Guid, long> _counted = [];
    private Dictionary<long, Moved> _minutes = [];
    private Dictionary<(long Minute, Guid Provider), long> _providers = [];
    private DateTimeOffset _prunedAt;

    public string Name => "the traffic of the last days";

    public Task RestoreAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public async Task SaveAsync(CancellationToken cancellationToken)
    {
        Dictionary<long, Moved> minutes;
        Dictionary<(long Minute, Guid Provider), long> shares;
        lock (_gate)
        {
            Collect();
            (minutes, shares) = (_minutes, _providers);
            if (minutes.Count == 0 && shares.Count == 0)
                return;
            (_minutes, _providers) = ([], []);
        }

        try
        {
            var prunes = time.WallTime() - _prunedAt >= PruneInterval;
            await database.WriteAsync(connection => Write(connection, minutes, shares, prunes), cancellationToken);
            if (prunes)
                _prunedAt = time.WallTime();
        }
        catch
        {
            lock (_gate)
            {
                foreach (var (minute, moved) in minutes)
                    Add(minute, moved);
                foreach (var (key, bytes) in shares)
                    _providers[key] = _providers.GetValueOrDefault(key) + bytes;
            }

            throw;
        }
    }

    /// <summary>Reads the points of a window. The latest minutes come from memory, by the second if the window is short.</summary>
    public async Task<RateColumns> ReadAsync(RateWindow window, int points, CancellationToken cancellationToken)
    {
        var columns = new RateColumns(window, points, time.WallTime());
        // A minute is too coarse for these steps, so replace it by seconds as far back as they exist.
        var fine = columns.Step < 60 ? sampler.Recent(window) : [];
        var before = fine.Count > 0 ? fine[0].From / 60 : long.MaxValue;
        Dictionary<long, Moved> minutes;
        lock (_gate)
        {
            Collect();
            minutes = new(_minutes);
        }

        foreach (var row in await ReadAsync(columns, cancellationToken))
            minutes[row.Point] = row.Read().With(minutes.GetValueOrDefault(row.Point));
        foreach (var (minute, moved) in minutes.Where(minute => minute.Key < before))
            columns.Add(minute * 60, 60, moved);
        foreach (var (from, seconds, moved) in fine)
            columns.Add(from, seconds, moved);
        return columns;
    }

    /// <summary>Reads the points of a window for each provider that delivered data in it.</summary>
    public async Task<IReadOnlyDictionary<Guid, RateColumns>> ReadProvidersAsync(RateWindow window, int points, CancellationToken cancellationToken)
    {
        var now = time.WallTime();
        var empty = new RateColumns(window, points, now);
        var rows = await database.ReadAsync(
            connection => (List<ShareRow>)
            [
                .. connection.Query<ShareRow>(
                    "SELECT minute AS Minute, provider AS Provider, bytes AS Bytes FROM rate_provider WHERE minute >= @from", new { from = empty.Start / 60 }),
            ],
            cancellationToken);
        lock (_gate)
        {
            Collect();
            rows.AddRange(_providers.Select(static share => new ShareRow(share.Key.Minute, share.Key.Provider.ToString(), share.Value)));
        }

        var columns = new Dictionary<Guid, RateColumns>();
        foreach (var row in rows)
        {
            if (!Guid.TryParse(row.Provider, out var provider))
                continue;
            if (!columns.TryGetValue(provider, out var own))
                columns[provider] = own = new RateColumns(window, points, now);
            own.Add(row.Minute * 60, 60, new Moved(row.Bytes, 0, 0, 0, 0));
        }

        return columns;
    }

    // Groups the minutes of a point into one row, so that a window of 30 days has only a few hundred rows.
    private Task<List<MinuteRow>> ReadAsync(RateColumns columns, CancellationToken cancellationToken) => database.ReadAsync(
        connection => (List<MinuteRow>)
        [
            .. connection.Query<MinuteRow>(
                """
                SELECT min(minute) AS Point, sum(received) AS Received, sum(sent) AS Sent, sum(cached) AS Cached, max(streams) AS Streams, max(connections) AS Connections
                FROM rate_minute WHERE minute >= @from GROUP BY minute / @per
                """,
                new { from = columns.Start / 60, per = Math.Max(1, columns.Step / 60) }),
        ],
        cancellationToken);

    private int Write(DbConnection connection, Dictionary<long, Moved> minutes, Dictionary<(long Minute, Guid Provider), long> shares, bool prunes)
    {
        connection.Execute(
            """
            INSERT INTO rate_minute (minute, received, sent, cached, streams, connections) VALUES (@Point, @Received, @Sent, @Cached, @Streams, @Connections)
            ON CONFLICT (minute) DO UPDATE SET received = rate_minute.received + excluded.received, sent = rate_minute.sent + excluded.sent,
              cached = rate_minute.cached + excluded.cached, streams = max(rate_minute.streams, excluded.streams),
              connections = max(rate_minute.connections, excluded.connections)
            """,
            minutes.Select(minute => MinuteRow.Of(minute.Key, minute.Value)));
        connection.Execute(
            """
            INSERT INTO rate_provider (minute, provider, bytes) VALUES (@Minute, @Provider, @Bytes)
            ON CONFLICT (minute, provider) DO UPDATE SET bytes = rate_provider.bytes + excluded.bytes
            """,
            shares.Select(share => new ShareRow(share.Key.Minute, share.Key.Provider.ToString(), share.Value)));
        if (!prunes)
            return 0;
        var oldest = (time.WallTime() - Retention).ToUnixTimeSeconds() / 60;
        return connection.Execute("DELETE FROM rate_minute WHERE minute < @oldest", new { oldest })
            + connection.Execute("DELETE FROM rate_provider WHERE minute < @oldest", new { oldest });
    }

    /// <summary>Collects the traffic since the last call. Requires _gate.</summary>
    private void Collect()
    {
        foreach (var (minute, moved) in sampler.TakeMinutes())
            Add(minute, moved);
        var now = time.WallTime().ToUnixTimeSeconds() / 60;
        foreach (var (provider, use) in providers.Uses)
        {
            var fresh = use.Bytes - _counted.GetValueOrDefault(provider);
            if (fresh <= 0)
                continue;
            _counted[provider] = use.Bytes;
            _providers[(now, provider)] = _providers.GetValueOrDefault((now, provider)) + fresh;
        }
    }

    private void Add(long minute, Moved moved) => _minutes[minute] = _minutes.GetValueOrDefault(minute).With(moved);

    internal sealed record MinuteRow
    {
        public long Point { get; init; }
        public long Received { get; init; }
        public long Sent { get; init; }
        public long Cached { get; init; }
        public long Streams { get; init; }
        public long Connections { get; init; }

        public static MinuteRow Of(long minute, Moved moved) => new()
        {
            Point = minute,
            Received = moved.Received,
            Sent = moved.Sent,
            Cached = moved.Cached,
            Streams = moved.Streams,
            Connections = moved.Connections,
        };

        public Moved Read() => new(Received, Sent, Cached, (int)Streams, (int)Connections);
    }

    internal sealed record ShareRow(long Minute, string Provider, long Bytes);
}
