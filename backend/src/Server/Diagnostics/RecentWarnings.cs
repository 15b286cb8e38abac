using Sluice.Usenet.Primitives;

namespace Sluice.Server.Diagnostics;

/// <summary>A line of the log that an operator should see.</summary>
/// <param name="Level">Warning or above.</param>
/// <param name="Text">The message, on one line and without secrets.</param>
/// <param name="At">When it was logged.</param>
/// <param name="Origin">The part of the program that logged it.</param>
internal sealed record RecentWarning(LogLevel Level, string Text, DateTimeOffset At, string Origin);

/// <summary>Keeps the newest lines of level Warning and above in memory, without secrets, for clients that ask for them (SAB-46).</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class RecentWarnings(LogRedactor redactor, TimeProvider time) : ILoggerProvider
{
    /// <summary>Lines that are kept.</summary>
    public const int Most = 20;

    // Of one line, so that a long message of a library takes no memory for good.
    private const int MaxLength = 4096;

    private readonly LogThrottle _throttle = new(time);

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

    /// <summary>Forgets all lines.</summary>
    public void Clear()
    {
        lock (_gate)
            _lines.Clear();
    }

    /// <inheritdoc/>
    public ILogger CreateLogger(string categoryName) => new Logger(this, categoryName);

    /// <inheritdoc/>
    public void Dispose()
    {
        // Nothing is owned.
    }

    private void Add(LogLevel level, string category, EventId id, string message, Exception? failure)
    {
        // What the console does not show any more has pushed out every other line long before.
        if (_throttle.Take(level, category, id, failure) == LogShare.Nothing)
            return;

        // These lines leave in answers, which hold no text of an exception (S27).
        var text = redactor.Redact(failure is null ? message : $"{message}: {failure.GetType().Name}");
        var line = string.Create(Math.Min(text.Length, MaxLength), text, static (to, from) =>
        {
            for (var at = 0; at < to.Length; at++)
                to[at] = char.IsControl(from[at]) ? ' ' : from[at];
        });
        var warning = new RecentWarning(level, line, time.WallTime(), category[(category.LastIndexOf('.') + 1)..]);
        lock (_gate)
        {
            if (_lines.Count == Most)
                _lines.Dequeue();
            _lines.Enqueue(warning);
        }
    }

    private sealed class Logger(RecentWarnings owner, string category) : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => logLevel is >= LogLevel.Warning and < LogLevel.None;

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            if (IsEnabled(logLevel))
                owner.Add(logLevel, category, eventId, formatter(state, exception), exception);
        }
    }
}
