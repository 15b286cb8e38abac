using System.Text.Json;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary><c>tools/measure.sh</c>: the server from outside, measured by FullNzbTester.</summary>
[Collection(EndToEndRun.Name)]
public sealed class MeasureTests
{
    [Fact]
    [Trait("Category", EndToEndRun.Name)]
    public async Task Server_mode_reads_every_byte_right_and_counts_at_the_mock()
    {
        using var folder = new ScratchFolder();
        var json = folder.File("result.json");
        var environment = new Dictionary<string, string> { ["BUILD"] = "no", ["CONFIGURATION"] = new DirectoryInfo(AppContext.BaseDirectory).Parent!.Name };
        string[] flags = ["--size=16", "--limit=16", "--latency=5", "--jitter=0", "--seeks=5", "--no-ceiling", "--quiet", $"--json={json}"];
        (await ExternalProgram.RunAsync(Repository.PathOf("tools/measure.sh"), flags, environment, TestContext.Current.CancellationToken)).Succeeded();

        using var result = JsonDocument.Parse(await File.ReadAllBytesAsync(json, TestContext.Current.CancellationToken));
        var metrics = result.RootElement.GetProperty("metrics");
        Assert.Equal("server", result.RootElement.GetProperty("mode").GetString());
        Assert.Equal(0, metrics.GetProperty("bytes_wrong").GetInt64());
        Assert.InRange(metrics.GetProperty("bytes_verified").GetInt64(), 16L << 20, long.MaxValue);
        Assert.InRange(metrics.GetProperty("import_heads").GetInt32(), 1, 2);
        Assert.InRange(metrics.GetProperty("amplification").GetDouble(), 0.9, 1.5);
        Assert.InRange(metrics.GetProperty("connections_peak").GetInt32(), 1, 20);
        Assert.Equal(JsonValueKind.Number, metrics.GetProperty("cpu_s_per_gib").ValueKind);
    }
}
