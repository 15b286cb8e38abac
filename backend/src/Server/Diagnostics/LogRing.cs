using Sluice.Usenet.Primitives;

namespace Sluice.Server.Diagnostics;

/// <summary>A line of the log, kept in memory.</summary>
/// <param name="Number">Its number since the start, from 1 on.</param>
/// <param name="At">When it was logged.</param>
/// <param name="Level">How much it matters.</param>
/// <param name="Source">The room of the program that logged it, as in <c>Queue</c>.</param>
/// <param name="Text">The message, on one line and without secrets.</param>
/// <param name="Job">The item of queue or history that it is about; null for none.</param>
/// <param name="Stream">The playback that it is about; null for none.</param>
internal sealed record KeptLine(long Number, DateTimeOffset At, LogLevel Level, string Source, string Text, string? Job, string? Stream);

/// <summary>Keeps the newest lines of the log in memory, without secrets (S4), for the page that shows them.</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class LogRing(LogRedactor redactor, RecentWarnings warnings, TimeProvider time) : ILoggerProvider, ISupportExternalScope
{
    /// <summary>Lines that are kept at most.</summary>
    public const int MaxLines = 5_000;

    /// <summary>The name of a property or scope whose value is the id of an item of the queue.</summary>
    public const string JobKey = "Job";

    /// <summary>The name of a property or scope whose value is the id of a playback.</summary>
    public const string StreamKey = "Stream";

    // Of all texts together: 5,000 ordinary lines take a quarter of it.
    private const int MaxCharacters = 2_000_000;

    // Of one line, so that a long message of a library pushes out no others.
    private const int MaxLength = 4096;

    private readonly LogThrottle _throttle = new(time);

    // Guards the lines and the listeners, which are called under it; the lock of the warnings may be taken below it.
    private readonly Lock _gate = new();
    private readonly Queue<KeptLine> _lines = [];
    private readonly List<Action> _listeners = [];
    private long _characters;
    private long _last;
    private IExternalScopeProvider? _scopes;

    /// <summary>The lines, the oldest first.</summary>
    public IReadOnlyList<KeptLine> Lines
    {
        get
        {
            lock (_gate)
                return [.. _lines];
        }
    }

    /// <summary>How many there are, and the number of the newest.</summary>
    public (int Count, long Last) State
    {
        get
        {
            lock (_gate)
                return (_lines.Count, _last);
        }
    }

    /// <summary>The lines behind a number, the oldest first; null where there are more than may be or where some of them are gone.</summary>
    public IReadOnlyList<KeptLine>? After(long number, int most)
    {
        lock (_gate)
            return _last - number > Math.Min(most, _lines.Count) ? null : [.. _lines.Skip(_lines.Count - (int)(_last - number))];
    }

    /// <summary>Has each new line told until what is returned is disposed of.</summary>
    /// <param name="added">Called by the one that logs; takes no lock and logs nothing.</param>
    public IDisposable Listen(Action added)
    {
        lock (_gate)
            _listeners.Add(added);
        return new Listener(this, added);
    }

    /// <summary>The room of a category, as in <c>Queue</c> of <c>Sluice.Server.Queue.StepRunner</c>; what is not of this program is the framework's.</summary>
    public static string SourceOf(string category) => category.Split('.') switch
    {
        ["Sluice", "Server" or "Usenet", var room, ..] => room,
        _ => "Framework",
    };

    /// <summary>A scope whose lines are about an item of the queue.</summary>
    public static IReadOnlyList<KeyValuePair<string, object?>> ScopeOf(string job) => [new(JobKey, job)];

    /// <inheritdoc/>
    public void SetScopeProvider(IExternalScopeProvider scopeProvider) => _scopes = scopeProvider;

    /// <inheritdoc/>
    public ILogger CreateLogger(string categoryName) => new Logger(this, categoryName, SourceOf(categoryName));

    /// <inheritdoc/>
    public void Dispose()
    {
        // Nothing is owned.
    }

    private void Add(LogLevel level, string category, string source, string message, Exception? failure, string? job, string? stream)
    {
        // These lines leave in answers, which hold no text of an exception (S27).
        var text = redactor.Redact(failure is null ? message : $"{message}: {failure.GetType().Name}");
        var line = string.Create(Math.Min(text.Length, MaxLength), text, static (to, from) =>
        {
            for (var at = 0; at < to.Length; at++)
                to[at] = char.IsControl(from[at]) ? ' ' : from[at];
        });
        var now = time.WallTime();
        lock (_gate)
        {
            _lines.Enqueue(new KeptLine(++_last, now, level, source, line, job, stream));
            _characters += line.Length;
            while (_lines.Count > MaxLines || _characters > MaxCharacters)
                _characters -= _lines.Dequeue().Text.Length;
            if (level >= LogLevel.Warning)
                warnings.Add(new RecentWarning(_last, level, line, now, category[(category.LastIndexOf('.') + 1)..]));
            foreach (var listener in _listeners)
                listener();
        }
    }

    private sealed class Listener(LogRing ring, Action added) : IDisposable
    {
        public void Dispose()
        {
            lock (ring._gate)
                ring._listeners.Remove(added);
        }
    }

    private sealed class Logger(LogRing owner, string category, string source) : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => owner._scopes?.Push(state);

        public bool IsEnabled(LogLevel logLevel) => logLevel < LogLevel.None;

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            if (!IsEnabled(logLevel) || owner._throttle.Take(logLevel, category, eventId, exception) == LogShare.Nothing)
                return;
            var about = new About { IsOfQueue = source == "Queue" };
            about.Read(state);
            owner._scopes?.ForEachScope(static (scope, about) => about.Read(scope), about);
            owner.Add(logLevel, category, source, formatter(state, exception), exception, about.Job, about.Stream);
        }
    }

    /// <summary>What a line is about, by its properties and the scopes around it; the nearest counts.</summary>
    private sealed class About
    {
        public bool IsOfQueue { get; init; }

        public string? Job { get; private set; }

        public string? Stream { get; private set; }

        public void Read(object? state)
        {
            if (state is not IEnumerable<KeyValuePair<string, object?>> properties)
                return;
            foreach (var (name, value) in properties)
            {
                // Messages of the queue name their items so.
                if (name == JobKey || (IsOfQueue && name == "Id"))
                    Job ??= value as string;
                else if (name == StreamKey)
                    Stream ??= value as string;
            }
        }
    }
}
