using System.Net;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;
using Sluice.Server.WebDav;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.WebDav;

public sealed class RefusalLogTests
{
    private readonly ManualTimeProvider _time = new();
    private readonly CountingLogger _lines = new();

    [Fact]
    public void Refusal_of_one_client_and_path_is_logged_once_a_minute()
    {
        var log = new RefusalLog(_time, _lines);

        log.Note(From("10.0.0.1"), "/a", 404);
        log.Note(From("10.0.0.1"), "/a", 404);
        Assert.Equal(1, _lines.Count);
        log.Note(From("10.0.0.1"), "/b", 404);
        log.Note(From("10.0.0.2"), "/a", 404);
        Assert.Equal(3, _lines.Count);

        _time.Advance(TimeSpan.FromMinutes(1) - TimeSpan.FromTicks(1));
        log.Note(From("10.0.0.1"), "/a", 404);
        Assert.Equal(3, _lines.Count);
        _time.Advance(TimeSpan.FromTicks(1));
        log.Note(From("10.0.0.1"), "/a", 404);
        Assert.Equal(4, _lines.Count);
    }

    [Fact]
    public void Scan_of_many_paths_uses_bounded_memory()
    {
        var log = new RefusalLog(_time, _lines);

        for (var i = 0; i < 10_000; i++)
            log.Note(From("10.0.0.1"), $"/{i}", 404);

        Assert.InRange(log.Remembered, 1, 4096);
    }

    private static DefaultHttpContext From(string address)
    {
        var http = new DefaultHttpContext();
        http.Connection.RemoteIpAddress = IPAddress.Parse(address);
        return http;
    }

    private sealed class CountingLogger : ILogger<RefusalLog>
    {
        public int Count { get; private set; }

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
            Count++;
    }
}
