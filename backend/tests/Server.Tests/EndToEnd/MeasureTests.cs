using System.Text.Json;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>FullNzbTester measures the server from outside and compares every byte.</summary>
public sealed class MeasureTests
{
    [Fact]
    [Trait("Category", EndToEndRun.Name)]
    public async Task FullNzbTester_server_mode_verifies_bytes_and_counts_cost()
    {
        string[] flags = ["--size=16", "--limit=16", "--latency=5", "--jitter=0", "--seeks=5", "--no-ceiling", "--quiet"];
        var result = await MeasuredRun.RunAsync(flags, null, TestContext.Current.CancellationToken);
        var metrics = result.GetProperty("metrics");
        Assert.Equal("server", result.GetProperty("mode").GetString());
        Assert.Equal(0, metrics.GetProperty("bytes_wrong").GetInt64());
        Assert.InRange(metrics.GetProperty("bytes_verified").GetInt64(), 16L << 20, long.MaxValue);
        Assert.InRange(metrics.GetProperty("import_heads").GetInt32(), 1, 2);
        Assert.InRange(metrics.GetProperty("amplification").GetDouble(), 0.9, 1.5);
        Assert.InRange(metrics.GetProperty("connections_peak").GetInt32(), 1, 20);
        Assert.Equal(JsonValueKind.Number, metrics.GetProperty("cpu_s_per_gib").ValueKind);
    }

    [Fact]
    [Trait("Category", EndToEndRun.Name)]
    public async Task Ten_readers_of_one_file_each_get_correct_bytes()
    {
        string[] flags = ["--size=64", "--latency=20", "--jitter=0", "--steps=1", "--playback=0", "--readers=10", "--same-file", "--once", "--playback-seconds=120", "--quiet"];
        var result = await MeasuredRun.RunAsync(flags, null, TestContext.Current.CancellationToken);
        var metrics = result.GetProperty("metrics");
        Assert.Equal((0, 0), (metrics.GetProperty("bytes_wrong").GetInt64(), metrics.GetProperty("playback").GetProperty("cut_off").GetInt32()));
        Assert.InRange(metrics.GetProperty("bytes_verified").GetInt64(), 640L << 20, long.MaxValue);
    }
}
