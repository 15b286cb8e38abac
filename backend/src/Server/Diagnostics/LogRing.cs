using Sluice.Usenet.Primitives;

namespace Sluice.Server.Diagnostics;

/// <summary>A log line kept in memory.</summary>
/// <param name="Number">Sequence number, from 1 at the start of the process.</param>
/// <param name="Source">The component that logged the line, such as <c>Queue</c>.</param>
/// <param name="Text">The message on one line, without secrets.</param>
/// <param name="Job">Id of the queue or history item; null if none.</param>
/// <param name="Stream">Id of the playback; null if none.</param>
/// <param name="Names">Parts of the text that are the name of a release, or a path.</param>
internal sealed record KeptLine(
    long Number, DateTimeOffset At, LogLevel Level, string Source, string Text, string? Job, string? Stream, IReadOnlyList<string> Names);

/// <summary>Keeps the newest log lines in memory, without secrets, for the log page (S4).</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class LogRing(LogRedactor redactor, RecentWarnings warnings, TimeProvider time) : ILoggerProvider, ISupportExternalScope
{
    public const int MaxLines = 5_000;

    /// <summary>Name of the property or scope that contains a queue item's id.</summary>
    public const string JobKey = "Job";

    /// <summary>Name of the property or scope that contains a playback's id.</summary>
    public const string StreamKey = "Stream";

    // Limit for all texts together, because a line may be long. 5,000 typical lines use a quarter of it.
    private const int MaxCharacters = 2_000_000;

    // Limit per line, so that one long library message does not displace many others.
    private const int MaxLength = 4096;

    private readonly LogThrottle _throttle = new(time);

    // Guards lines and listeners. It is held while listeners run, and the lock of the warnings may be acquired while holding it.
    private readonly Lock _gate = new();
    private readonly Queue<KeptLine> _lines = [];
    private readonly List<Action> _listeners = [];
    private long _characters;
    private long _last;
    private IExternalScopeProvider? _scopes;

    /// <summary>The lines, oldest first.</summary>
    public IReadOnlyList<KeptLine> Lines
    {
        get
        {
            lock (_gate)
                return [.. _lines];
        }
    }

    /// <summary>The number of lines, and the sequence number of the newest line.</summary>
    public (int Count, long Last) State
    {
        get
        {
            lock (_gate)
                return (_lines.Count, _last);
        }
    }

    /// <summary>Returns the lines after a sequence number, oldest first; null if there are more than <paramref name="most"/> or some were dropped.</summary>
    public IReadOnlyList<KeptLine>? After(long number, int most)
    {
        lock (_gate)
            return _last - number > Math.Min(most, _lines.Count) ? null : [.. _lines.Skip(_lines.Count - (int)(_last - number))];
    }

    /// <summary>Calls back for each new line until disposed. The callback runs under the lock, so it must not lock or log.</summary>
    public IDisposable Listen(Action added)
    {
        lock (_gate)
            _listeners.Add(added);
        return new Listener(this, added);
    }

    /// <summary>Returns a category's component, such as <c>Queue</c> for <c>Sluice.Server.Queue.StepRunner</c>; otherwise <c>Framework</c>.</summary>
    public static string SourceOf(string category) => category.Split('.') switch
    {
        ["Sluice", "Server" or "Usenet", var room, ..] => room,
        _ => "Framework",
    };

    /// <summary>Returns a logging scope for a queue item.</summary>
    public static IReadOnlyList<KeyValuePair<string, object?>> ScopeOf(string job) => [new(JobKey, job)];

    public void SetScopeProvider(IExternalScopeProvider scopeProvider) => _scopes = scopeProvider;

    public ILogger CreateLogger(string categoryName) => new Logger(this, categoryName, SourceOf(categoryName));

    public void Dispose()
    {
        // This provider owns nothing.
    }

    private void Add(LogLevel level, EventId what, string category, string source, string message, Exception? failure, About about)
    {
        // Clients get these lines, so they must not contain exception messages (S27).
        var text = redactor.Redact(failure is null ? message : $"{message}: {failure.GetType().Name}");
        var line = string.Create(Math.Min(text.Length, MaxLength), text, static (to, from) =>
        {
            for (var at = 0; at < to.Length; at++)
                to[at] = char.IsControl(from[at]) ? ' ' : from[at];
        });
        IReadOnlyList<string> names = [.. about.Names.Select(redactor.Redact)];
        var now = time.WallTime();
        lock (_gate)
        {
            var kept = new KeptLine(++_last, now, level, source, line, about.Job, about.Stream, names);
            _lines.Enqueue(kept);
            _characters += LengthOf(kept);
            while (_lines.Count > MaxLines || _characters > MaxCharacters)
                _characters -= LengthOf(_lines.Dequeue());
            if (level >= LogLevel.Warning && what.Id != RecentWarnings.FailedImport)
                warnings.Add(new RecentWarning(_last, level, line, now, category[(category.LastIndexOf('.') + 1)..]));
            foreach (var listener in _listeners)
                listener();
        }
    }

    private static long LengthOf(KeptLine line) => line.Text.Length + line.Names.Sum(name => (long)name.Length);

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
            var about = new About { Source = source };
            about.Read(state);
            owner._scopes?.ForEachScope(static (scope, about) => about.Read(scope), about);
            owner.Add(logLevel, eventId, category, source, formatter(state, exception), exception, about);
        }
    }

    /// <summary>The queue item, playback and names of a line, from its properties and scopes. The innermost scope takes precedence.</summary>
    private sealed class About
    {
        private List<string>? _names;

        public required string Source { get; init; }

        public string? Job { get; private set; }

        public string? Stream { get; private set; }

        public IReadOnlyList<string> Names => _names ?? [];

        public void Read(object? state)
        {
            if (state is not IEnumerable<KeyValuePair<string, object?>> properties)
                return;
            foreach (var (name, value) in properties)
            {
                // Queue messages use Id for the item's id.
                if (name == JobKey || (Source == "Queue" && name == "Id"))
                    Job ??= value as string;
                else if (name == StreamKey)
                    Stream ??= value as string;
                else if (IsOfName(name) && value is string text)
                    (_names ??= []).Add(text);
            }
        }

        // The names in messages of Providers are nicknames of providers.
        private bool IsOfName(string property) => property is "Release" or "Path" or "Target" || (property == "Name" && Source != "Providers");
    }
}
