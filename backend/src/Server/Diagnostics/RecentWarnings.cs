namespace Sluice.Server.Diagnostics;

/// <summary>A log line of level Warning or above, on one line and without secrets. Its number comes from <see cref="LogRing"/>.</summary>
internal sealed record RecentWarning(long Number, LogLevel Level, string Text, DateTimeOffset At, string Origin);

/// <summary>The newest warnings and errors, for clients (SAB-46). Kept separately, because other lines soon displace them in <see cref="LogRing"/>.</summary>
internal sealed class RecentWarnings
{
    public const int MaxLines = 20;

    /// <summary>The event of a failed import. It is a warning only in the log, because the history already shows it.</summary>
    public const int FailedImport = 2101;

    // Guards the lines. No other lock is taken while it is held.
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
