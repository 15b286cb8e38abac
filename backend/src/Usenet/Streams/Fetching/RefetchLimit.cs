namespace Sluice.Usenet.Streams;

/// <summary>
/// Keeps clients that hammer damaged segments from costing traffic without end: of what was fetched for a file before, to no avail,
/// three times its size may be fetched again in a day.
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

    /// <summary>Decoded bytes that may still be fetched again for a file.</summary>
    public long Left(FileOrigin file)
    {
        lock (_gate)
            return (Times * Math.Max(file.Length, 1)) - (Find(file)?.Bytes ?? 0);
    }

    /// <summary>Decoded bytes have arrived once more for a file, good or bad.</summary>
    public void Fetched(FileOrigin file, int count)
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
