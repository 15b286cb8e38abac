namespace Sluice.Usenet.Streams;

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
    private readonly Dictionary<SegmentKey, Verdict> _verdicts = [];
    private readonly Queue<(SegmentKey Key, long At)> _byAge = new();

    /// <summary>What was proved about a segment, and whether that is still believed or worth another load; null when nothing is known.</summary>
    public (ArticleLoss Loss, bool IsBelieved)? Find(SegmentKey key)
    {
        lock (_gate)
            return _verdicts.TryGetValue(key, out var verdict) ? (verdict.Loss, time.GetElapsedTime(verdict.At) < verdict.Believed) : null;
    }

    /// <summary>Notes that a segment has just been proved gone.</summary>
    public void Gone(SegmentKey key, ArticleLoss loss)
    {
        lock (_gate)
        {
            var now = time.GetTimestamp();
            var believed = BelievedAtFirst;
            if (_verdicts.TryGetValue(key, out var before))
                believed = before.Believed * 2 < BelievedAtMost ? before.Believed * 2 : BelievedAtMost;
            _verdicts[key] = new Verdict(loss, now, believed);
            _byAge.Enqueue((key, now));

            // An outdated verdict stays for a while: it says how long the next one is believed, and which loads count as traffic.
            while (_byAge.Count > MostVerdicts || (_byAge.TryPeek(out var first) && time.GetElapsedTime(first.At, now) >= 2 * BelievedAtMost))
                Forget(_byAge.Dequeue());
        }
    }

    /// <inheritdoc cref="ReloadTraffic.Left"/>
    public long Left(FileOrigin file) => traffic.Left(file);

    /// <inheritdoc cref="ReloadTraffic.Loaded"/>
    public void LoadedAgain(FileOrigin file, int count) => traffic.Loaded(file, count);

    private void Forget((SegmentKey Key, long At) oldest)
    {
        // A newer verdict on the same segment stays.
        if (_verdicts.TryGetValue(oldest.Key, out var verdict) && verdict.At == oldest.At)
            _verdicts.Remove(oldest.Key);
    }

    private readonly record struct Verdict(ArticleLoss Loss, long At, TimeSpan Believed);
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
    private readonly Dictionary<FileOrigin, Traffic> _files = [];
    private readonly Queue<Traffic> _byAge = new();

    /// <summary>Decoded bytes that may still be loaded again for a file.</summary>
    public long Left(FileOrigin file)
    {
        lock (_gate)
            return (Times * Math.Max(file.Length, 1)) - (Find(file)?.Bytes ?? 0);
    }

    /// <summary>Decoded bytes have arrived once more for a file, good or bad.</summary>
    public void Loaded(FileOrigin file, int count)
    {
        lock (_gate)
            Begun(file).Bytes += count;
    }

    private Traffic? Find(FileOrigin file) =>
        _files.TryGetValue(file, out var traffic) && time.GetElapsedTime(traffic.Since) < Period ? traffic : null;

    private Traffic Begun(FileOrigin file)
    {
        if (Find(file) is { } known)
            return known;
        var traffic = new Traffic(file, time.GetTimestamp());
        _files[file] = traffic;
        _byAge.Enqueue(traffic);
        while (_byAge.Count > MostFiles || time.GetElapsedTime(_byAge.Peek().Since) >= Period)
            Forget(_byAge.Dequeue());
        return traffic;
    }

    private void Forget(Traffic oldest)
    {
        if (_files.TryGetValue(oldest.File, out var present) && ReferenceEquals(present, oldest))
            _files.Remove(oldest.File);
    }

    private sealed class Traffic(FileOrigin file, long since)
    {
        public FileOrigin File => file;

        public long Since => since;

        public long Bytes { get; set; }
    }
}
