using System.Globalization;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Server.Diagnostics;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Auth;
using Xunit;

namespace Sluice.Server.Tests.Diagnostics;

/// <summary>A repeated failure never fills the disk with log lines (F46).</summary>
public sealed class LogStormTests
{
    private readonly SteppedTime _time = new();
    private readonly SluiceConsoleFormatter _formatter;

    public LogStormTests()
    {
        var settings = new SettingsSource(new SettingsResolver(SettingSchema.All, new ProcessEnvironment(new Dictionary<string, string>())));
        var general = new FixedOptions<GeneralOptions>(new GeneralOptions { LogLevel = LogLevel.Information, JsonLog = false });
        _formatter = new SluiceConsoleFormatter(general, new LogRedactor(settings), _time);
    }

    [Theory]
    [InlineData(LogLevel.Information)]
    [InlineData(LogLevel.Warning)]
    [InlineData(LogLevel.Error)]
    public void Repeated_message_is_capped_at_60_lines_a_minute_with_note(LogLevel level)
    {
        var lines = Enumerable.Range(0, 1000).Select(i => Write(level, 1, $"request {i} failed")).Where(line => line.Length > 0).ToList();

        Assert.Equal(60, lines.Count);
        Assert.Contains("request 59 failed", lines[^1], StringComparison.Ordinal);
        Assert.Contains("not shown", lines[^1], StringComparison.Ordinal);
        Assert.DoesNotContain(lines[..^1], line => line.Contains("not shown", StringComparison.Ordinal));
        Assert.NotEqual("", Write(level, 2, "another"));

        _time.Advance(TimeSpan.FromMinutes(1));
        Assert.Contains("request 1000 failed", Write(level, 1, "request 1000 failed"), StringComparison.Ordinal);
    }

    [Fact]
    public void Stack_trace_of_one_cause_is_logged_once_a_minute()
    {
        var storm = Enumerable.Range(0, 10).Select(_ => Write(LogLevel.Error, 1, "failed", Thrown(new InvalidOperationException("first")))).ToList();

        Assert.Equal(1, storm.Count(line => line.Contains("   at ", StringComparison.Ordinal)));
        Assert.All(storm, line => Assert.Contains("first", line, StringComparison.Ordinal));
        Assert.Contains("   at ", Write(LogLevel.Error, 1, "failed", Thrown(new ArgumentException("second"))), StringComparison.Ordinal);
        _time.Advance(TimeSpan.FromMinutes(1));
        Assert.Contains("   at ", Write(LogLevel.Error, 1, "failed", Thrown(new InvalidOperationException("first"))), StringComparison.Ordinal);
    }

    [Fact]
    public void Debug_lines_are_not_limited()
    {
        var lines = Enumerable.Range(0, 1000).Count(i => Write(LogLevel.Debug, 1, $"line {i}").Length > 0);

        Assert.Equal(1000, lines);
    }

    private static Exception Thrown(Exception exception)
    {
        try
        {
            throw exception;
        }
        catch (Exception thrown)
        {
            return thrown;
        }
    }

    private string Write(LogLevel level, int id, string message, Exception? exception = null)
    {
        using var text = new StringWriter(CultureInfo.InvariantCulture);
        _formatter.Write(new LogEntry<string>(level, "Sluice.Server.X", id, message, exception, (state, _) => state), null, text);
        return text.ToString();
    }
}
