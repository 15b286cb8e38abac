namespace Sluice.Server.Diagnostics;

/// <summary>A line of the log that an operator should see.</summary>
/// <param name="Number">Its number in <see cref="LogRing"/>.</param>
/// <param name="Level">Warning or above.</param>
/// <param name="Text">The message, on one line and without secrets.</param>
/// <param name="At">When it was logged.</param>
/// <param name="Origin">The part of the program that logged it.</param>
internal sealed record RecentWarning(long Number, LogLevel Level, string Text, DateTimeOffset At, string Origin);

/// <summary>
/// The newest lines of level Warning and above, for clients that ask for them (SAB-46). They outlive those of <see cref="LogRing"/>, which
/// adds them, where that has many others.
/// </summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class RecentWarnings
{
    /// <summary>Lines that are kept.</summary>
    public const int Most = 20;

    // Guards the lines. Nothing else is taken under it.
    private readonly Lock _gate = new();
    private readonly Queue<RecentWarning> _lines = [];

    /// <summary>The lines, the oldest first.</summary>
    public IReadOnlyList<RecentWarning> Lines
    {
        get
        {
            lock (_gate)
                return [.. _lines];
        }
    }

    /// <summary>How many there are.</summary>
    public int Count
    {
        get
        {
            lock (_gate)
                return _lines.Count;
        }
    }

    /// <summary>Keeps a line.</summary>
    public void Add(RecentWarning line)
    {
        lock (_gate)
        {
            if (_lines.Count == Most)
                _lines.Dequeue();
            _lines.Enqueue(line);
        }
    }

    /// <summary>Forgets all lines.</summary>
    public void Clear()
    {
        lock (_gate)
            _lines.Clear();
    }
}
