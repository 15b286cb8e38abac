using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Primitives;
using Sluice.Server.Diagnostics;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Auth;
using Xunit;

namespace Sluice.Server.Tests.Diagnostics;

public sealed class LogRedactorTests
{
    private const string Providers =
        """{"Providers":[{"Host":"news.example.com","User":"canary-user","Pass":"canary & pass"},{"Host":"h","user":"second-canary"}]}""";

    private static readonly Dictionary<string, string> Saved = new()
    {
        ["usenet.providers"] = Providers,
        ["api.key"] = "canary-api-key-0001",
        ["webdav.pass"] = "canary\"quoted\"",
    };

    private readonly SettingsSource _settings =
        new(new SettingsResolver(SettingSchema.All, new ProcessEnvironment(new Dictionary<string, string>())));

    private readonly LogRedactor _redactor;

    public LogRedactorTests() => _redactor = new LogRedactor(_settings);

    [Theory]
    [InlineData("GET /api?mode=queue&apikey=canary-api-key-0001 HTTP/1.1")]
    [InlineData("AUTHINFO USER canary-user")]
    [InlineData("AUTHINFO PASS canary & pass")]
    [InlineData("http://x/?p=canary%20%26%20pass")]
    [InlineData("""{"pass":"canary\u0022quoted\u0022"}""")]
    [InlineData("second-canary canary-user canary-api-key-0001")]
    public void Saved_secret_is_masked_in_every_encoding(string line)
    {
        Assert.Equal(line, _redactor.Redact(line));

        _settings.Apply(Saved);

        var masked = _redactor.Redact(line);
        Assert.DoesNotContain("canary", masked, StringComparison.Ordinal);
        Assert.Contains("********", masked, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("PUT /nzbs/tv/x{{canary}}.nzb failed", "PUT /nzbs/tv/x{{********}}.nzb failed")]
    [InlineData("Refused PUT /nzbs/tv/x%7b%7Bcan%20ary%7D%7d.nzb.gz with 403", "Refused PUT /nzbs/tv/x%7b%7B********%7D%7d.nzb.gz with 403")]
    [InlineData("/nzbs/a password=can ary.nzb, /nzbs/b.nzb", "/nzbs/a password=********.nzb, /nzbs/b.nzb")]
    [InlineData("/nzbs/a%20Password%3Dcanary.zip", "/nzbs/a%20Password%3D********.zip")]
    [InlineData("/api?password=canary&x=1", "/api?password=********&x=1")]
    [InlineData("a password is wanted", "a password is wanted")]
    [InlineData("x{{half.nzb", "x{{half.nzb")]
    public void Password_in_an_NZB_name_is_masked(string line, string masked) => Assert.Equal(masked, _redactor.Redact(line));

    [Theory]
    [InlineData("""{"Providers":[{"Host":"h","User":"canary-one","User":"canary-user","Pass":"canary-pass"}]}""")]
    [InlineData("""{"Providers":[{"Host":"h","User":"canary-one","Pass":"canary-user","PASS":"canary-pass"}]}""")]
    [InlineData("""{"Providers":[{"Host":"h","User":"canary-one"},{"User":"\ud800","Pass":"canary-user"},{"Pass":"canary-pass"}]}""")]
    [InlineData("""{"Providers":[{"Host":"h","User":"canary-one"},{"\ud800":1,"User":"canary-user","Pass":"canary-pass"}]}""")]
    public void Secrets_in_odd_provider_JSON_are_masked(string providers)
    {
        _settings.Apply(new Dictionary<string, string> { ["usenet.providers"] = providers });

        Assert.Equal("******** ******** ********", _redactor.Redact("canary-one canary-user canary-pass"));
    }

    [Fact]
    public void New_secret_is_masked_in_the_first_change_callback()
    {
        var seen = "";
        using var watch = ChangeToken.OnChange(_settings.GetChangeToken, () => seen = _redactor.Redact("canary-user"));

        _settings.Apply(Saved);

        Assert.Equal("********", seen);
    }

    [Fact]
    public void Secret_added_by_Hide_is_masked()
    {
        _redactor.Hide("K7QF-2M9X");
        _settings.Apply(Saved);

        Assert.Equal("******** ********", _redactor.Redact("K7QF-2M9X canary-user"));
    }

    [Fact]
    public void Host_names_are_not_masked()
    {
        _settings.Apply(Saved);

        Assert.Equal("news.example.com refuses", _redactor.Redact("news.example.com refuses"));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Console_line_is_one_line_without_secrets(bool json)
    {
        _settings.Apply(Saved);
        var general = new FixedOptions<GeneralOptions>(new GeneralOptions { LogLevel = LogLevel.Information, JsonLog = json });
        var formatter = new SluiceConsoleFormatter(general, _redactor, new SteppedTime());
        using var output = new StringWriter();

        formatter.Write(
            new LogEntry<string>(LogLevel.Warning, "Sluice.Server.Queue.QueueWorker", new EventId(7), "x", null, (_, _) => "two\nlines of canary-user"),
            null,
            output);

        var expected = json
            ? """{"time":"1970-01-01T00:00:00.000Z","level":"warn","source":"Sluice.Server.Queue.QueueWorker","event":7,"message":"two\nlines of ********"}"""
            : "1970-01-01T00:00:00.000Z warn  QueueWorker: two lines of ********";
        Assert.Equal(expected + Environment.NewLine, output.ToString());
    }
}
