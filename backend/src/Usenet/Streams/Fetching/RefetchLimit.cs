namespace Sluice.Usenet.Streams;

/// <summary>
/// Keeps clients that begin a damaged file over and over from costing traffic without end: a file in which a segment failed may
/// be fetched three times its size in a day, what came before the failure included.
/// </summary>
/// <remarks>Thread-safe. Bounded: of very many files the one that was begun first is forgotten first.</remarks>
internal sealed class RefetchLimit(TimeProvider time)
{
    private const int Times = 3;
    private const int MostFiles = 10_000;
    private static readonly TimeSpan Period = TimeSpan.FromHours(24);

    private readonly Lock _gate = new();
    private readonly Dictionary<FileOrigin, Traffic> _files = [];
    private readonly Queue<Traffic> _byAge = new();

    /// <summary>Whether a file may have one more article.</summary>
    public bool Allows(FileOrigin file) => Left(file) > 0;

    /// <summary>Decoded bytes that a file may still have; without a bound while no segment of it has failed.</summary>
    public long Left(FileOrigin file)
    {
        lock (_gate)
            return Find(file) is { HasFailed: true } traffic ? (Times * Math.Max(file.Length, 1)) - traffic.Bytes : long.MaxValue;
    }

    /// <summary>Decoded bytes have arrived for a file, good or bad.</summary>
    public void Fetched(FileOrigin file, int count)
    {
        lock (_gate)
            Begun(file).Bytes += count;
    }

    /// <summary>A segment of a file is proved gone.</summary>
    public void Failed(FileOrigin file)
    {
        lock (_gate)
            Begun(file).HasFailed = true;
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

        public bool HasFailed { get; set; }
    }
}
