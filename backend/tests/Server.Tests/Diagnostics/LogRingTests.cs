using Microsoft.Extensions.Logging;
using Sluice.Server.Diagnostics;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Auth;
using Xunit;

namespace Sluice.Server.Tests.Diagnostics;

public sealed class LogRingTests : IDisposable
{
    private const string Secret = "0123456789abcdef0123456789abcdef";

    private readonly LogRing _ring;
    private readonly ILogger _logger;

    public LogRingTests()
    {
        var environment = new ProcessEnvironment(new Dictionary<string, string> { ["SLUICE_CONFIG__API__NZB_KEY"] = Secret });
        _ring = new LogRing(new LogRedactor(new SettingsSource(new SettingsResolver(SettingSchema.All, environment))), new RecentWarnings(), new SteppedTime());
        _logger = _ring.CreateLogger("Sluice.Server.Queue.QueueWorker");
    }

    public void Dispose() => _ring.Dispose();

    [Fact]
    public void Newest_lines_are_kept_with_their_numbers()
    {
        for (var i = 0; i < LogRing.MaxLines + 10; i++)
            Write($"line {i}");

        Assert.Equal((LogRing.MaxLines, LogRing.MaxLines + 10), _ring.State);
        Assert.Equal(("line 10", 11), (_ring.Lines[0].Text, _ring.Lines[0].Number));
        Assert.Equal(["line 5008", "line 5009"], _ring.After(LogRing.MaxLines + 8, 10)!.Select(line => line.Text));
        Assert.Empty(_ring.After(LogRing.MaxLines + 10, 10)!);
        Assert.Null(_ring.After(LogRing.MaxLines, 5));
        Assert.Null(_ring.After(0, int.MaxValue));
    }

    [Fact]
    public void Long_lines_are_truncated_and_push_out_others()
    {
        for (var i = 0; i < 1000; i++)
            Write(new string('x', 10_000));

        Assert.All(_ring.Lines, line => Assert.Equal(4096, line.Text.Length));
        Assert.InRange(_ring.State.Count, 100, 500);
    }

    [Fact]
    public void Line_omits_secrets_line_breaks_and_exception_text()
    {
        _logger.Log(LogLevel.Error, 1, $"a\r\n{Secret}b", new InvalidOperationException($"x{Secret}\ny"), (state, _) => state);

        Assert.Equal("a  ********b: InvalidOperationException", Assert.Single(_ring.Lines).Text);
    }

    [Theory]
    [InlineData("Sluice.Server.Queue.Intake.X", "Queue")]
    [InlineData("Sluice.Usenet.Nntp.Connections.X", "Nntp")]
    [InlineData("Microsoft.AspNetCore.X", "Framework")]
    [InlineData("X", "Framework")]
    public void Log_source_is_the_module_or_Framework(string category, string expected) => Assert.Equal(expected, LogRing.SourceOf(category));

    [Fact]
    public void Listener_is_called_per_line_until_disposed()
    {
        var heard = 0;
        using (_ring.Listen(() => heard++))
            Write("one");
        Write("two");

        Assert.Equal(1, heard);
    }

    // Debug, because lines from Information on may be held back as repetitions.
    private void Write(string line) => _logger.Log(LogLevel.Debug, 1, line, null, (state, _) => state);
}
