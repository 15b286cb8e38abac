using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Streams.Loading;

/// <summary>
/// The damage that the loads of one engine have met: segments that every provider was asked for in vain not long ago, and how much of
/// what was loaded in vain a file may load again. A player that hammers a hole is answered from here instead of asking the providers each
/// time; a verdict that is confirmed is believed for twice as long, up to a day.
/// </summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> guards the verdicts; nothing is called under it. Bounded: the oldest verdict makes room for a new one. The
/// verdicts are of the providers of one engine and end with it; the traffic outlives it.
/// </remarks>
internal sealed class DamageLedger(ReloadTraffic traffic, TimeProvider time)
{
    private const int MostVerdicts = 100_000;
    private static readonly TimeSpan BelievedAtFirst = TimeSpan.FromHours(1);
    private static readonly TimeSpan BelievedAtMost = TimeSpan.FromHours(24);

    private readonly Lock _gate = new();

    // A verdict stays for a while when it is outdated: it says how long the next one is believed, and which loads count as traffic.
    private readonly AgingMap<SegmentKey, Verdict> _verdicts = new(MostVerdicts, 2 * BelievedAtMost, time);

    /// <summary>What was proved about a segment, and whether that is still believed or worth another load; null when nothing is known.</summary>
    public (ArticleLoss Loss, bool IsBelieved)? Find(SegmentKey key)
    {
        lock (_gate)
            return _verdicts.TryGet(key, out var verdict, out var since) ? (verdict.Loss, time.GetElapsedTime(since) < verdict.Believed) : null;
    }

    /// <summary>Where the segments lie that are believed gone and were loaded for a file. Looks through all verdicts, as many as there may be.</summary>
    public IReadOnlyList<Stretch> Find(FileOrigin file)
    {
        lock (_gate)
        {
            return
            [
                .. _verdicts.All()
                    .Where(verdict => file.Equals(verdict.Value.File) && time.GetElapsedTime(verdict.Since) < verdict.Value.Believed)
                    .Select(static verdict => verdict.Value.Place),
            ];
        }
    }

    /// <summary>Notes that a segment has just been proved gone.</summary>
    /// <param name="key">The segment.</param>
    /// <param name="loss">What was proved.</param>
    /// <param name="file">The file that it was loaded for; null where nothing asks.</param>
    /// <param name="place">Where its bytes would lie in that file.</param>
    public void Gone(SegmentKey key, ArticleLoss loss, FileOrigin? file = null, Stretch place = default)
    {
        lock (_gate)
        {
            var believed = BelievedAtFirst;
            if (_verdicts.TryGet(key, out var before, out _))
                believed = before.Believed * 2 < BelievedAtMost ? before.Believed * 2 : BelievedAtMost;
            _verdicts.Set(key, new Verdict(loss, believed, file, place));
        }
    }

    /// <inheritdoc cref="ReloadTraffic.Left"/>
    public long Left(FileOrigin file) => traffic.Left(file);

    /// <inheritdoc cref="ReloadTraffic.Loaded"/>
    public void LoadedAgain(FileOrigin file, int count) => traffic.Loaded(file, count);

    private readonly record struct Verdict(ArticleLoss Loss, TimeSpan Believed, FileOrigin? File, Stretch Place);
}

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
