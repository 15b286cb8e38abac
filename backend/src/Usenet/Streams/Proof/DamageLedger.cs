using Sluice.Usenet.Nntp;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Streams.Proof;

/// <summary>
/// Remembers the damage found by loads of one engine, so that a player that retries a damaged range causes no more requests. "No such article" from every
/// provider is believed for an hour, doubling to a day. A damaged copy is only doubted, because it may have been damaged in transit. If a second request some
/// seconds later, over another connection, fails too, the damage is believed for a minute, doubling to an hour. Also limits how much a file may reload.
/// </summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> guards the entries; nothing is called while it is held. Bounded: the oldest entry is dropped first. The entries depend on one
/// engine's providers and end with the engine; the reload traffic outlives it.
/// </remarks>
internal sealed class DamageLedger(ReloadTraffic traffic, TimeSpan askAgainAfter, TimeProvider time)
{
    private const int MostVerdicts = 100_000;

    // Maximum number of connections remembered for a doubt, because one request reaches each provider at most twice.
    private const int MostConnections = 2 * ProviderSet.MaxProviders;

    private static readonly (TimeSpan First, TimeSpan Most) Missing = (TimeSpan.FromHours(1), TimeSpan.FromHours(24));
    private static readonly (TimeSpan First, TimeSpan Most) Corrupt = (TimeSpan.FromMinutes(1), TimeSpan.FromHours(1));

    private readonly Lock _gate = new();

    // Expired entries stay for a while, because they decide how long the next entry is believed and which loads count as traffic.
    private readonly AgingMap<SegmentKey, Entry> _entries = new(MostVerdicts, 2 * Missing.Most, time);

    /// <summary>Returns the known damage of a segment; null if there is none.</summary>
    public KnownDamage? Find(SegmentKey key)
    {
        lock (_gate)
        {
            if (!_entries.TryGet(key, out var entry, out var since))
                return null;
            var age = time.GetElapsedTime(since);
            var askIn = entry.IsDoubt && age < askAgainAfter ? askAgainAfter - age : TimeSpan.Zero;
            return new KnownDamage(entry.Loss, age < entry.BelievedFor, entry.IsDoubt, askIn, entry.Connections);
        }
    }

    /// <summary>Returns the ranges of a file that are believed gone. Scans all entries.</summary>
    public IReadOnlyList<Stretch> Find(FileOrigin file)
    {
        lock (_gate)
        {
            return
            [
                .. _entries.All()
                    .Where(entry => file.Equals(entry.Value.File) && time.GetElapsedTime(entry.Since) < entry.Value.BelievedFor)
                    .Select(static entry => entry.Value.Place),
            ];
        }
    }

    /// <summary>Reports that no provider has a segment's article. File and range are optional.</summary>
    public void ReportMissing(SegmentKey key, FileOrigin? file = null, Stretch place = default)
    {
        lock (_gate)
            Confirm(key, new Entry(ArticleLoss.Missing, default, [], file, place), Missing);
    }

    /// <summary>Reports a request that delivered only damaged copies, over these connections.</summary>
    /// <returns>Time until another request can confirm the damage; null if this request has confirmed it.</returns>
    public TimeSpan? ReportGarbled(SegmentKey key, IReadOnlyCollection<object> connections, FileOrigin? file = null, Stretch place = default)
    {
        lock (_gate)
        {
            var entry = new Entry(ArticleLoss.Corrupt, default, [.. connections], file, place);
            if (!_entries.TryGet(key, out var before, out var since) || before.Loss != ArticleLoss.Corrupt)
            {
                _entries.Set(key, entry);
                return askAgainAfter;
            }

            var age = time.GetElapsedTime(since);
            if (before.IsDoubt && age < askAgainAfter)
            {
                // This was the first request of another reader, so it proves nothing yet.
                before.Connections.UnionWith(connections.Take(MostConnections - before.Connections.Count));
                return askAgainAfter - age;
            }

            if (before.Connections.Overlaps(connections))
            {
                _entries.Set(key, entry);
                return askAgainAfter;
            }

            Confirm(key, entry, Corrupt);
            return null;
        }
    }

    /// <summary>Removes the known damage of a segment, because it arrived intact.</summary>
    public void ReportGood(SegmentKey key)
    {
        lock (_gate)
            _entries.Remove(key);
    }

    public long Left(FileOrigin file) => traffic.Left(file);

    public void LoadedAgain(FileOrigin file, int count) => traffic.Loaded(file, count);

    private void Confirm(SegmentKey key, Entry entry, (TimeSpan First, TimeSpan Most) terms)
    {
        var believed = terms.First;
        if (_entries.TryGet(key, out var before, out _) && before.Loss == entry.Loss && !before.IsDoubt)
            believed = before.BelievedFor * 2 < terms.Most ? before.BelievedFor * 2 : terms.Most;
        _entries.Set(key, entry with { BelievedFor = believed });
    }

    private readonly record struct Entry(ArticleLoss Loss, TimeSpan BelievedFor, HashSet<object> Connections, FileOrigin? File, Stretch Place)
    {
        public bool IsDoubt => BelievedFor == TimeSpan.Zero;
    }
}

/// <summary>The known damage of a segment. If doubted, a second request decides after <c>AskIn</c>, over connections not in <c>Connections</c>.</summary>
internal sealed record KnownDamage(ArticleLoss Loss, bool IsBelieved, bool IsDoubt, TimeSpan AskIn, IReadOnlyCollection<object> Connections);

/// <summary>Limits the traffic of clients that keep reading damaged segments: a file may reload three times its size in a day.</summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> guards the files; nothing is called while it is held. Outlives engines, because new settings do not undo traffic.
/// Bounded: the file whose period began first is forgotten first.
/// </remarks>
internal sealed class ReloadTraffic(TimeProvider time)
{
    private const int Times = 3;
    private const int MostFiles = 10_000;
    private static readonly TimeSpan Period = TimeSpan.FromHours(24);

    private readonly Lock _gate = new();
    private readonly AgingMap<FileOrigin, Traffic> _files = new(MostFiles, Period, time);

    public long Left(FileOrigin file)
    {
        lock (_gate)
            return (Times * Math.Max(file.Length, 1)) - (_files.TryGet(file, out var traffic, out _) ? traffic.Bytes : 0);
    }

    /// <summary>Counts reloaded decoded bytes of a file, valid or damaged.</summary>
    public void Loaded(FileOrigin file, int count)
    {
        lock (_gate)
        {
            // The period of a file begins with its first reload, so later ones must not renew the entry.
            if (!_files.TryGet(file, out var traffic, out _))
                _files.Set(file, traffic = new Traffic());
            traffic.Bytes += count;
        }
    }

    private sealed class Traffic
    {
        public long Bytes { get; set; }
    }
}
