using Sluice.Server.Providers;
using Sluice.Server.SabApi;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Xunit;

namespace Sluice.Server.Tests.SabApi;

/// <summary><c>speedlimit</c> and <c>config&amp;name=speedlimit</c>, and their values in the queue.</summary>
public sealed class SpeedLimitTests : IDisposable
{
    private static readonly (string, string) Configured = ("SLUICE_CONFIG__USENET__BANDWIDTH_LIMIT_MBPS", "20");

    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Theory]
    [InlineData("", 2_500_000, 0L)]
    [InlineData("0", 2_500_000, 0L)]
    [InlineData("0%", 2_500_000, 0L)]
    [InlineData("30", 2_500_000, 732L)]
    [InlineData("30%", 2_500_000, 732L)]
    [InlineData(" 30 % ", 2_500_000, 732L)]
    [InlineData("12.5", 2_500_000, 305L)]
    [InlineData("100", 2_500_000, 0L)]
    [InlineData("250%", 2_500_000, 0L)]
    [InlineData("30", 0, null)]
    [InlineData("400K", 0, 400L)]
    [InlineData("400k", 2_500_000, 400L)]
    [InlineData("4M", 0, 4096L)]
    [InlineData("1.5M", 0, 1536L)]
    [InlineData("1G", 0, 1_048_576L)]
    [InlineData("9000T", 0, 12_500_000L)]
    [InlineData("101", 0, 1L)]
    [InlineData("512000", 0, 500L)]
    public void Value_up_to_100_is_percent_otherwise_bytes_per_second(string text, long configured, long? kibibytes) =>
        Assert.Equal(kibibytes, SpeedLimit.Read(text)!.KibibytesOf(configured));

    [Theory]
    [InlineData("fast")]
    [InlineData("-5")]
    [InlineData("K")]
    [InlineData("%")]
    [InlineData("1e400")]
    [InlineData("NaN")]
    [InlineData("4 MB")]
    [InlineData("1,5M")]
    public void Invalid_speed_limit_is_not_parsed(string text) => Assert.Null(SpeedLimit.Read(text));

    [Fact]
    public async Task Speed_limit_is_set_survives_a_restart_and_is_removed()
    {
        await using (var host = await ProductHost.StartAsync(_folder, null, null, Configured))
        {
            Assert.Equal(("100", "2500000"), await ShownAsync(host));
            Assert.True(await CallAsync(host, "mode=config&name=speedlimit&value=30"));
            Assert.Equal(("30", "749568"), await ShownAsync(host));
            Assert.Equal(749_568, host.Get<BandwidthLimit>().Limiter.BytesPerSecond);

            // The limit of the settings is lower, so it stays in force.
            Assert.True(await CallAsync(host, "mode=speedlimit&value=4M"));
            Assert.Equal(("100", "2500000"), await ShownAsync(host));
            Assert.True(await CallAsync(host, "mode=speedlimit&value=400K"));
        }

        await using (var host = await ProductHost.StartAsync(_folder, null, null, Configured))
        {
            Assert.Equal(("16", "409600"), await ShownAsync(host));
            Assert.True(await CallAsync(host, "mode=config&name=speedlimit&value="));
            Assert.Equal(("100", "2500000"), await ShownAsync(host));
            Assert.Equal("0", host.Get<SettingsSource>().Current.Text("queue.speed-limit-kbps"));
        }
    }

    [Fact]
    public async Task Invalid_speed_limit_changes_nothing_and_logs_a_warning()
    {
        await using var host = await ProductHost.StartAsync(_folder, null, null, ("LOG_LEVEL", "warning"));
        Assert.Equal(("100", "0"), await ShownAsync(host));
        Assert.True(await CallAsync(host, "mode=config&name=speedlimit&value=fast"));
        Assert.Equal(("100", "0"), await ShownAsync(host));
        Assert.Equal(1, await CountWarningsAsync(host));
        Assert.True(await CallAsync(host, "mode=speedlimit&value=400K"));
        Assert.Equal(("100", "409600"), await ShownAsync(host));
    }

    [Fact]
    public async Task Percentage_without_a_limit_is_shown_but_has_no_effect()
    {
        await using (var host = await ProductHost.StartAsync(_folder, null, null, ("LOG_LEVEL", "warning")))
        {
            Assert.True(await CallAsync(host, "mode=speedlimit&value=400K"));
            Assert.True(await CallAsync(host, "mode=config&name=speedlimit&value=50"));
            Assert.Equal(("50", "0"), await ShownAsync(host));
            Assert.True(await CallAsync(host, "mode=config&name=speedlimit&value=12.5%"));
            Assert.Equal(("12", "0"), await ShownAsync(host));
            Assert.Equal(0, await CountWarningsAsync(host));
        }

        await using (var host = await ProductHost.StartAsync(_folder))
        {
            Assert.Equal(("12", "0"), await ShownAsync(host));
            Assert.True(await CallAsync(host, "mode=speedlimit&value=100"));
            Assert.Equal(("100", "0"), await ShownAsync(host));
            Assert.True(await CallAsync(host, "mode=speedlimit&value=50"));
        }

        // A percentage that was set without a limit has no effect on a later limit.
        await using (var host = await ProductHost.StartAsync(_folder, null, null, Configured))
        {
            Assert.Equal(("100", "2500000"), await ShownAsync(host));
            Assert.True(await CallAsync(host, "mode=speedlimit&value=30"));
            Assert.Equal(("30", "749568"), await ShownAsync(host));
            Assert.Equal("100", host.Get<SettingsSource>().Current.Text("queue.speed-limit-percent"));
        }
    }

    private static async Task<int> CountWarningsAsync(ProductHost host) =>
        (await host.CallAsync("mode=warnings", Token)).GetProperty("warnings").EnumerateArray()
            .Count(warning => warning.GetProperty("text").GetString()!.StartsWith("A speed limit", StringComparison.Ordinal));

    private static async Task<bool> CallAsync(ProductHost host, string query) => (await host.CallAsync(query, Token)).GetProperty("status").GetBoolean();

    private static async Task<(string? Percent, string? BytesPerSecond)> ShownAsync(ProductHost host)
    {
        var queue = (await host.CallAsync("mode=queue&limit=1", Token)).GetProperty("queue");
        return (queue.GetProperty("speedlimit").GetString(), queue.GetProperty("speedlimit_abs").GetString());
    }
}
