namespace Sluice.Server.Diagnostics;

/// <summary>A log line of level Warning or higher, on a single line and without secrets. <see cref="LogRing"/> assigns its number.</summary>
internal sealed record RecentWarning(long Number, LogLevel Level, string Text, DateTimeOffset At, string Origin);

/// <summary>The newest warnings and errors, for clients (SAB-46). Kept separately, because other lines soon displace them in <see cref="LogRing"/>.</summary>
internal sealed class RecentWarnings
{
    public const int MaxLines = 20;

    /// <summary>The event of a failed import. It is excluded here, because the history already shows it.</summary>
    public const int FailedImport = 2101;

    // Guards the lines. No other lock is acquired while holding it.
    private readonly Lock _gate = new();
    private readonly Queue<RecentWarning> _lines = [];

    /// <summary>The lines, oldest first.</summary>
    public IReadOnlyList<RecentWarning> Lines
    {
        get
        {
            lock (_gate)
                return [.. _lines];
        }
    }

    public int Count
    {
        get
        {
            lock (_gate)
                return _lines.Count;
        }
    }

    public void Add(RecentWarning line)
    {
        lock (_gate)
        {
            if (_lines.Count == MaxLines)
                _lines.Dequeue();
            _lines.Enqueue(line);
        }
    }

    public void Clear()
    {
        lock (_gate)
            _lines.Clear();
    }
}
