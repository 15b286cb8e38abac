using Sluice.Usenet.Nntp;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Streams.Loading;

/// <summary>
/// Remembers the damage that loads of one engine met, so that a player retrying a hole causes no more requests. "No such article" from every provider
/// is believed for an hour, doubling to a day. A damaged copy is only doubted, because it may have been damaged in transit. If a second request some
/// seconds later, over another connection, gets no good copy either, the damage is believed for a minute, doubling to an hour. Also limits how much a
/// file may reload.
/// </summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> guards the entries; nothing is called while it is held. Bounded: the oldest entry is dropped first. The entries depend
/// on the providers of one engine and end with it; the traffic outlives it.
/// </remarks>
/// <param name="traffic">Counts reloaded bytes.</param>
/// <param name="askAgainAfter">Shortest time between the first and the second request.</param>
/// <param name="time">Clock.</param>
internal sealed class DamageLedger(ReloadTraffic traffic, TimeSpan askAgainAfter, TimeProvider time)
{
    private const int MostVerdicts = 100_000;

    // Connections of one doubt, because one request reaches each provider at most twice.
    private const int MostConnections = 2 * ProviderSet.MaxProviders;

    private static readonly (TimeSpan First, TimeSpan Most) Missing = (TimeSpan.FromHours(1), TimeSpan.FromHours(24));
    private static readonly (TimeSpan First, TimeSpan Most) Corrupt = (TimeSpan.FromMinutes(1), TimeSpan.FromHours(1));

    private readonly Lock _gate = new();

    // Expired entries stay for a while, because they decide how long the next one is believed and which loads count as traffic.
    private readonly AgingMap<SegmentKey, Entry> _entries = new(MostVerdicts, 2 * Missing.Most, time);

    /// <summary>Returns the damage known of a segment; null if there is none.</summary>
    public KnownDamage? Find(SegmentKey key)
    {
        lock (_gate)
        {
            if (!_entries.TryGet(key, out var entry, out var since))
                return null;
            var age = time.GetElapsedTime(since);
            var askIn = entry.IsDoubt && age < askAgainAfter ? askAgainAfter - age : TimeSpan.Zero;
            return new KnownDamage(entry.Loss, age < entry.Believed, entry.IsDoubt, askIn, entry.Connections);
        }
    }

    /// <summary>Returns the ranges believed gone that were loaded for a file. Scans all entries.</summary>
    public IReadOnlyList<Stretch> Find(FileOrigin file)
    {
        lock (_gate)
        {
            return
            [
                .. _entries.All()
                    .Where(entry => file.Equals(entry.Value.File) && time.GetElapsedTime(entry.Since) < entry.Value.Believed)
                    .Select(static entry => entry.Value.Place),
            ];
        }
    }

    /// <summary>Reports that no provider has the article of a segment.</summary>
    /// <param name="key">The segment.</param>
    /// <param name="file">The file for which it was loaded; may be null.</param>
    /// <param name="place">Where its bytes would lie in that file.</param>
    public void ReportMissing(SegmentKey key, FileOrigin? file = null, Stretch place = default)
    {
        lock (_gate)
            Believe(key, new Entry(ArticleLoss.Missing, default, [], file, place), Missing);
    }

    /// <summary>Reports a request that brought only damaged copies.</summary>
    /// <param name="key">The segment.</param>
    /// <param name="connections">Identities of the connections that delivered the copies.</param>
    /// <param name="file">The file for which it was loaded; may be null.</param>
    /// <param name="place">Where its bytes would lie in that file.</param>
    /// <returns>Time until another request can prove the damage; null if this one has proved it.</returns>
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

            Believe(key, entry, Corrupt);
            return null;
        }
    }

    /// <summary>Removes the damage known of a segment, because it arrived intact.</summary>
    public void ReportGood(SegmentKey key)
    {
        lock (_gate)
            _entries.Remove(key);
    }

    /// <inheritdoc cref="ReloadTraffic.Left"/>
    public long Left(FileOrigin file) => traffic.Left(file);

    /// <inheritdoc cref="ReloadTraffic.Loaded"/>
    public void LoadedAgain(FileOrigin file, int count) => traffic.Loaded(file, count);

    private void Believe(SegmentKey key, Entry entry, (TimeSpan First, TimeSpan Most) terms)
    {
        var believed = terms.First;
        if (_entries.TryGet(key, out var before, out _) && before.Loss == entry.Loss && !before.IsDoubt)
            believed = before.Believed * 2 < terms.Most ? before.Believed * 2 : terms.Most;
        _entries.Set(key, entry with { Believed = believed });
    }

    /// <summary>A doubt until it is believed for some time.</summary>
    private readonly record struct Entry(ArticleLoss Loss, TimeSpan Believed, HashSet<object> Connections, FileOrigin? File, Stretch Place)
    {
        public bool IsDoubt => Believed == TimeSpan.Zero;
    }
}

/// <summary>The damage known of a segment.</summary>
/// <param name="Loss">How the segment was lost.</param>
/// <param name="IsBelieved">Whether the loss is proved and still believed.</param>
/// <param name="IsDoubt">Whether the loss is unproved, so that a second request decides.</param>
/// <param name="AskIn">Time until that request may be sent; zero if now.</param>
/// <param name="Connections">Identities of the connections that delivered the last damaged copies.</param>
internal sealed record KnownDamage(ArticleLoss Loss, bool IsBelieved, bool IsDoubt, TimeSpan AskIn, IReadOnlyCollection<object> Connections);

/// <summary>
/// Limits the traffic of clients that keep reading damaged segments. A file may reload failed segments up to three times its size in a day.
/// </summary>
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

    /// <summary>Returns how many decoded bytes a file may still reload.</summary>
    public long Left(FileOrigin file)
    {
        lock (_gate)
            return (Times * Math.Max(file.Length, 1)) - (_files.TryGet(file, out var traffic, out _) ? traffic.Bytes : 0);
    }

    /// <summary>Counts decoded bytes that were reloaded for a file, good or bad.</summary>
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
