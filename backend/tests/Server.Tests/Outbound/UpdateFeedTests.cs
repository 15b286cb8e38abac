using System.Text;
using System.Text.Json.Nodes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Sluice.Server.Diagnostics;
using Sluice.Server.Outbound;
using Sluice.Server.Settings;
using Sluice.Server.Tests.AdminApi;
using Sluice.Server.Tests.Auth;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Providers;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Outbound;

/// <summary>News of newer versions: OPS-22.</summary>
public sealed class UpdateFeedTests : IDisposable
{
    private readonly TemporaryFolder _temporary = new();
    private readonly ManualTimeProvider _time = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Feed_is_checked_once_a_day_and_shown_in_one_line()
    {
        await using var host = await FakeIndexer.StartAsync(FakeIndexer.Give("""{"version":"99.1","notes":"Backups to\na second disk.","url":"http://127.0.0.1/x"}"""u8.ToArray()));
        var options = new FixedOptions<UpdateOptions>(new UpdateOptions { Feed = new Uri($"http://127.0.0.1:{host.Port}/news") });
        await using var server = await StartAsync(options);

        Assert.Null((await server.GetAsync("system"))["newer"]);
        await WaitForTimerAsync(UpdateFeed.FirstDelay);
        Assert.Empty(host.Requests);
        for (var asked = 1; asked <= 3; asked++)
        {
            _time.Advance(asked == 1 ? UpdateFeed.FirstDelay : UpdateFeed.Interval);
            await WaitForTimerAsync(UpdateFeed.Interval);
            Assert.Equal(Enumerable.Repeat("127.0.0.1/news", asked), host.Requests);
        }

        var newer = (await server.GetAsync("system"))["newer"]!;
        Assert.Equal(("99.1.0", "Backups to a second disk."), (newer["version"]!.ToString(), newer["notes"]!.ToString()));

        options.Change(new UpdateOptions { Feed = null });
        JsonNode? shown = newer;
        while (shown is not null)
            shown = (await server.GetAsync("system"))["newer"];
    }

    [Fact]
    public async Task Feed_configured_later_is_checked_at_once()
    {
        await using var host = await FakeIndexer.StartAsync(FakeIndexer.Give(Encoding.UTF8.GetBytes($$"""{"version":"{{BuildInfo.Version}}"}""")));
        var options = new FixedOptions<UpdateOptions>(new UpdateOptions { Feed = null });
        await using var server = await StartAsync(options);
        await WaitForTimerAsync(UpdateFeed.FirstDelay);

        options.Change(new UpdateOptions { Feed = new Uri($"http://127.0.0.1:{host.Port}/") });
        await WaitForTimerAsync(UpdateFeed.Interval);

        Assert.Single(host.Requests);
        Assert.Null((await server.GetAsync("system"))["newer"]);
    }

    [Fact]
    public async Task Failing_feed_is_logged_with_its_reason()
    {
        await using var host = await FakeIndexer.StartAsync(FakeIndexer.Say(404));
        using var lines = new LogLines(typeof(UpdateFeed).FullName!);
        var options = new FixedOptions<UpdateOptions>(new UpdateOptions { Feed = new Uri($"http://127.0.0.1:{host.Port}/") });
        await using var server = await StartAsync(options, lines.CreateLogger<UpdateFeed>());
        var pause = UpdateFeed.FirstDelay;

        foreach (var (answer, reason) in new[]
        {
            (FakeIndexer.Say(404), "it answered 404"),
            (FakeIndexer.Give("<html>"u8.ToArray()), "its answer has no version"),
            (FakeIndexer.Give(new byte[100_000]), "65536"),
        })
        {
            host.Answer = answer;
            await WaitForTimerAsync(pause);
            _time.Advance(pause);
            Assert.Contains(reason, await lines.NextAsync(Token), StringComparison.Ordinal);
            pause = UpdateFeed.Interval;
        }

        // The guard of addresses from outside decides, and allows this host only in these tests.
        options.Change(new UpdateOptions { Feed = new Uri("http://192.168.1.1/") });
        Assert.Contains("not public", await lines.NextAsync(Token), StringComparison.Ordinal);
        Assert.Equal(3, host.Requests.Count);
    }

    [Theory]
    [InlineData("""{"version":"1.2.0","notes":"x"}""", "1.2.0", "x")]
    [InlineData("""{"version":"1.2"}""", "1.2.0", "")]
    [InlineData("""{"version":"1.2.0.7","notes":null,"more":[1]}""", "1.2.0", "")]
    [InlineData("""{"version":"v1"}""", null, null)]
    [InlineData("""{"version":7}""", null, null)]
    [InlineData("""["1.2.0"]""", null, null)]
    [InlineData("", null, null)]
    public void Feed_response_is_read_or_ignored(string json, string? version, string? notes)
    {
        var offered = UpdateFeed.Parse(Encoding.UTF8.GetBytes(json));

        Assert.Equal((version, notes), (offered?.Version.ToString(), offered?.Notes));
    }

    [Fact]
    public void Long_notes_are_truncated()
    {
        var offered = UpdateFeed.Parse(Encoding.UTF8.GetBytes($$"""{"version":"2.0","notes":"{{new string('n', 5000)}}"}"""));

        Assert.Equal(new string('n', 300) + "…", offered!.Notes);
    }

    [Fact]
    public async Task Feed_address_must_be_https()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);

        var errors = await server.SaveAsync(System.Net.HttpStatusCode.BadRequest, ("updates.feed-url", "http://example.com/news.json"));

        Assert.Contains("https", errors!["updates.feed-url"]![0]!.ToString(), StringComparison.Ordinal);
    }

    /// <summary>Starts a server whose feed alone has the clock of the test, because other workers have timers too.</summary>
    private Task<ResourceServer> StartAsync(FixedOptions<UpdateOptions> options, ILogger<UpdateFeed>? logger = null) => ResourceServer.StartAsync(
        _temporary,
        new() { ["SLUICE_CONFIG__API__ADDURL_TRUSTED_HOSTS"] = "127.0.0.1" },
        services =>
        {
            services.AddSingleton(provider => new UpdateFeed(
                provider.GetRequiredService<GuardedClient>(), options, _time, logger ?? provider.GetRequiredService<ILogger<UpdateFeed>>()));
        });

    private async Task WaitForTimerAsync(TimeSpan span)
    {
        while (!_time.IsDueIn(span))
            await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System, Token);
    }
}
