using Sluice.Usenet.Nntp;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Streams.Loading;

/// <summary>
/// The damage that the loads of one engine have met, so that a player that hammers a hole is answered from here instead of asking the
/// providers each time; and how much of what was loaded in vain a file may load again. "No such article" from every provider is the word of
/// their stores: it is believed for an hour, doubling to a day. A damaged copy may have been damaged on its way: it is only doubted, until a
/// second question some seconds later, over another connection, gets no good copy either. Then it is believed for a minute, doubling to an
/// hour.
/// </summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> guards the entries; nothing is called under it. Bounded: the oldest entry makes room for a new one. The
/// entries are of the providers of one engine and end with it; the traffic outlives it.
/// </remarks>
/// <param name="traffic">What was loaded again.</param>
/// <param name="askAgainAfter">How much later than the first question the second one has to come.</param>
/// <param name="time">Clock.</param>
internal sealed class DamageLedger(ReloadTraffic traffic, TimeSpan askAgainAfter, TimeProvider time)
{
    private const int MostVerdicts = 100_000;

    // Of one doubt; one question reaches each provider twice at most.
    private const int MostConnections = 2 * ProviderSet.MaxProviders;

    private static readonly (TimeSpan First, TimeSpan Most) Missing = (TimeSpan.FromHours(1), TimeSpan.FromHours(24));
    private static readonly (TimeSpan First, TimeSpan Most) Corrupt = (TimeSpan.FromMinutes(1), TimeSpan.FromHours(1));

    private readonly Lock _gate = new();

    // An entry stays for a while when it is outdated: it says how long the next one is believed, and which loads count as traffic.
    private readonly AgingMap<SegmentKey, Entry> _entries = new(MostVerdicts, 2 * Missing.Most, time);

    /// <summary>What is known against a segment; null if nothing is.</summary>
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

    /// <summary>Where the segments lie that are believed gone and were loaded for a file. Looks through all entries, as many as there may be.</summary>
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

    /// <summary>Every provider has said that it does not have the article of a segment.</summary>
    /// <param name="key">The segment.</param>
    /// <param name="file">The file that it was loaded for; null where nothing asks.</param>
    /// <param name="place">Where its bytes would lie in that file.</param>
    public void ReportMissing(SegmentKey key, FileOrigin? file = null, Stretch place = default)
    {
        lock (_gate)
            Believe(key, new Entry(ArticleLoss.Missing, default, [], file, place), Missing);
    }

    /// <summary>A question for a segment has brought damaged copies and no good one.</summary>
    /// <param name="key">The segment.</param>
    /// <param name="connections">What stands for the connections that the copies came over.</param>
    /// <param name="file">The file that it was loaded for; null where nothing asks.</param>
    /// <param name="place">Where its bytes would lie in that file.</param>
    /// <returns>How long to wait until another question can prove the damage; null if this one has proved it.</returns>
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
                // Another reader's first question.
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

    /// <summary>A segment that something was known against has come after all.</summary>
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

    /// <summary>A doubt, as long as it is not believed for any time.</summary>
    private readonly record struct Entry(ArticleLoss Loss, TimeSpan Believed, HashSet<object> Connections, FileOrigin? File, Stretch Place)
    {
        public bool IsDoubt => Believed == TimeSpan.Zero;
    }
}

/// <summary>What is known against a segment.</summary>
/// <param name="Loss">How it was lost.</param>
/// <param name="IsBelieved">Whether that is proved and still believed.</param>
/// <param name="IsDoubt">Whether it is not proved: a second question decides.</param>
/// <param name="AskIn">How long to wait before that question; zero if it can be asked now.</param>
/// <param name="Connections">What stands for the connections that damaged copies came over last.</param>
internal sealed record KnownDamage(ArticleLoss Loss, bool IsBelieved, bool IsDoubt, TimeSpan AskIn, IReadOnlyCollection<object> Connections);

/// <summary>
/// Keeps clients that hammer damaged segments from costing traffic without end: of what was loaded for a file before, in vain, three
/// times the size of the file may be loaded again in a day.
/// </summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> guards the files; nothing is called under it. Outlives engines, because no change of the settings makes
/// traffic undone. Bounded: of very many files the one that began first is forgotten first.
/// </remarks>
internal sealed class ReloadTraffic(TimeProvider time)
{
    private const int Times = 3;
    private const int MostFiles = 10_000;
    private static readonly TimeSpan Period = TimeSpan.FromHours(24);

    private readonly Lock _gate = new();
    private readonly AgingMap<FileOrigin, Traffic> _files = new(MostFiles, Period, time);

    /// <summary>Decoded bytes that may still be loaded again for a file.</summary>
    public long Left(FileOrigin file)
    {
        lock (_gate)
            return (Times * Math.Max(file.Length, 1)) - (_files.TryGet(file, out var traffic, out _) ? traffic.Bytes : 0);
    }

    /// <summary>Decoded bytes have arrived once more for a file, good or bad.</summary>
    public void Loaded(FileOrigin file, int count)
    {
        lock (_gate)
        {
            // The day of a file begins with the first load, so that later ones leave the age of the entry as it is.
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
