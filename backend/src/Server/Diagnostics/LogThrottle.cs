namespace Sluice.Server.Diagnostics;

/// <summary>How much of a message is written.</summary>
internal enum LogShare
{
    /// <summary>All of it.</summary>
    Whole,

    /// <summary>Without the stack of its exception, which was written a moment ago.</summary>
    WithoutStack,

    /// <summary>The same, with a word that more of its kind are not shown.</summary>
    Last,

    /// <summary>Nothing.</summary>
    Nothing,
}

/// <summary>
/// Holds each kind of message to 60 lines a minute and each cause of an exception to one stack, so that what goes wrong with every
/// request fills no disk (F46). A kind is a message of the source; their number is that of the program, and bounded all the same.
/// </summary>
/// <remarks>Thread-safe. Debug and Trace are written whole, as they are asked for to see everything.</remarks>
internal sealed class LogThrottle(TimeProvider time)
{
    private const int MaxLines = 60;
    private const int MaxKinds = 1024;
    private static readonly TimeSpan Window = TimeSpan.FromMinutes(1);

    private readonly Lock _lock = new();
    private readonly Dictionary<(string Category, int Event, Type? Cause), Kind> _kinds = [];

    /// <summary>Counts a message.</summary>
    public LogShare Take(LogLevel level, string category, EventId id, Exception? exception)
    {
        if (level < LogLevel.Information)
            return LogShare.Whole;

        lock (_lock)
        {
            var cause = Of(category, id, exception?.GetType());
            var kind = exception is null ? cause : Of(category, id, null);
            kind.Lines++;
            // The stack counts with its cause, the line with all causes of the kind.
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
