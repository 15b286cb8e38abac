using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace Sluice.Server.Tests.Diagnostics;

/// <summary>Collects every line of an enabled level, with its category and exception.</summary>
internal sealed class CapturedLines : ILoggerProvider
{
    private readonly ConcurrentQueue<string> _lines = new();

    public IReadOnlyCollection<string> Lines => _lines;

    public ILogger CreateLogger(string categoryName) => new Category(categoryName, _lines);

    public void Dispose()
    {
    }

    private sealed class Category(string name, ConcurrentQueue<string> lines) : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
            lines.Enqueue($"{logLevel} {name}: {formatter(state, exception)} {exception}");
    }
}
