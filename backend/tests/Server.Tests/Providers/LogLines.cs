using System.Threading.Channels;
using Microsoft.Extensions.Logging;

namespace Sluice.Server.Tests.Providers;

/// <summary>Collects the messages of one category.</summary>
internal sealed class LogLines(string category) : ILoggerFactory
{
    private readonly Channel<string> _lines = Channel.CreateUnbounded<string>();

    /// <summary>Waits for the next message.</summary>
    public ValueTask<string> NextAsync(CancellationToken cancellationToken) => _lines.Reader.ReadAsync(cancellationToken);

    public ILogger CreateLogger(string categoryName) => new Lines(categoryName == category ? _lines.Writer : null);

    public void AddProvider(ILoggerProvider provider) => throw new NotSupportedException();

    public void Dispose() => _lines.Writer.TryComplete();

    private sealed class Lines(ChannelWriter<string>? lines) : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => lines is not null;

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
            lines?.TryWrite(formatter(state, exception));
    }
}
