using Microsoft.Extensions.Logging;
using Sluice.Server.Diagnostics;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Auth;
using Xunit;

namespace Sluice.Server.Tests.Diagnostics;

public sealed class RecentWarningsTests : IDisposable
{
    private const string Secret = "0123456789abcdef0123456789abcdef";

    private readonly SteppedTime _time = new();
    private readonly RecentWarnings _warnings = new();
    private readonly LogRing _ring;
    private readonly ILogger _logger;

    public RecentWarningsTests()
    {
        var environment = new ProcessEnvironment(new Dictionary<string, string> { ["SLUICE_CONFIG__API__NZB_KEY"] = Secret });
        _ring = new LogRing(new LogRedactor(new SettingsSource(new SettingsResolver(SettingSchema.All, environment))), _warnings, _time);
        _logger = _ring.CreateLogger("Sluice.Server.Queue.QueueWorker");
    }

    public void Dispose() => _ring.Dispose();

    [Fact]
    public void Newest_20_lines_at_warning_or_above_are_kept()
    {
        foreach (var level in Enum.GetValues<LogLevel>())
            Write(level, 1, $"{level}");
        Assert.Equal(["Warning", "Error", "Critical"], _warnings.Lines.Select(line => line.Text));

        for (var i = 0; i < 30; i++)
            Write(LogLevel.Warning, 100 + i, $"line {i}");

        Assert.Equal(Enumerable.Range(10, 20).Select(i => $"line {i}"), _warnings.Lines.Select(line => line.Text));
        Assert.Equal(("QueueWorker", RecentWarnings.MaxLines), (_warnings.Lines[0].Origin, _warnings.Count));
        Assert.Equal(_ring.Lines.TakeLast(20).Select(line => line.Number), _warnings.Lines.Select(line => line.Number));
        _warnings.Clear();
        Assert.Empty(_warnings.Lines);
    }

    [Fact]
    public void Failed_import_is_logged_but_not_a_recent_warning()
    {
        Write(LogLevel.Warning, RecentWarnings.FailedImport, "Rel failed: MissingArticles");

        Assert.Single(_ring.Lines, line => line.Level == LogLevel.Warning);
        Assert.Empty(_warnings.Lines);
    }

    [Fact]
    public void Line_omits_secrets_line_breaks_and_exception_text()
    {
        Write(LogLevel.Error, 1, $"a\r\n{Secret}b", new InvalidOperationException($"x{Secret}\ny"));

        Assert.Equal("a  ********b: InvalidOperationException", Assert.Single(_warnings.Lines).Text);
    }

    [Fact]
    public void Repeated_message_adds_at_most_60_lines_a_minute()
    {
        for (var i = 0; i < 1000; i++)
            Write(LogLevel.Warning, 1, $"line {i}");

        Assert.Equal("line 59", _warnings.Lines[^1].Text);
        _time.Advance(TimeSpan.FromMinutes(1));
        Write(LogLevel.Warning, 1, "next");
        Assert.Equal("next", _warnings.Lines[^1].Text);
    }

    private void Write(LogLevel level, int id, string text, Exception? failure = null) => _logger.Log(level, id, text, failure, (state, _) => state);
}
