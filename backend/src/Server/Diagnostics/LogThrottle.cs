namespace Sluice.Server.Diagnostics;

internal enum LogShare
{
    Whole,

    /// <summary>The line without its exception's stack trace, because that was written recently.</summary>
    WithoutStack,

    /// <summary>Like <see cref="WithoutStack"/>, with a note that further messages will be suppressed.</summary>
    Last,

    Nothing,
}

/// <summary>
/// Limits each kind of message to 60 lines a minute and each cause to one stack trace, because a repeating error would fill the disk (F46). A kind is one
/// message in the source. The number of kinds is limited too.
/// </summary>
/// <remarks>Thread-safe. Debug and Trace are not limited, because users enable them to see everything.</remarks>
internal sealed class LogThrottle(TimeProvider time)
{
    private const int MaxLines = 60;
    private const int MaxKinds = 1024;
    private static readonly TimeSpan Window = TimeSpan.FromMinutes(1);

    private readonly Lock _lock = new();
    private readonly Dictionary<(string Category, int Event, Type? Cause), Kind> _kinds = [];

    public LogShare Take(LogLevel level, string category, EventId id, Exception? exception)
    {
        if (level < LogLevel.Information)
            return LogShare.Whole;

        lock (_lock)
        {
            var cause = Of(category, id, exception?.GetType());
            var kind = exception is null ? cause : Of(category, id, null);
            kind.Lines++;
            // Stack traces are counted per cause, lines per kind.
            var isFirst = exception is null || cause.Stacks++ == 0;
            return kind.Lines > MaxLines ? LogShare.Nothing
                : kind.Lines == MaxLines ? LogShare.Last
                : isFirst ? LogShare.Whole
                : LogShare.WithoutStack;
        }
    }

    private Kind Of(string category, EventId id, Type? cause)
    {
        if (_kinds.TryGetValue((category, id.Id, cause), out var kind) && time.GetElapsedTime(kind.Since) < Window)
            return kind;

        if (_kinds.Count >= MaxKinds)
            _kinds.Clear();
        return _kinds[(category, id.Id, cause)] = new Kind { Since = time.GetTimestamp() };
    }

    private sealed class Kind
    {
        public long Since { get; init; }

        public int Lines { get; set; }

        public int Stacks { get; set; }
    }
}
