using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>Readers of every kind run for minutes while FullNzbTester compares every byte. Only their own server is measured.</summary>
public sealed class SoakTests
{
    [Fact]
    [Trait("Category", EndToEndRun.Soak)]
    public Task Seeks_and_cancels_with_faults_return_no_wrong_byte() => SoakAsync(minutes: 3);

    [Fact]
    [Trait("Category", EndToEndRun.Lengthy)]
    public Task Seeks_and_cancels_for_20_minutes_return_no_wrong_byte() => SoakAsync(minutes: 20);

    // Gate G7 and the soak of the engine: 32 readers, 1 % of each kind of wrong body, a budget of 512 MB for all of them.
    // A block that is used after its return ends the server and with it the run.
    private static async Task SoakAsync(int minutes)
    {
        var settings = new Dictionary<string, string> { ["SLUICE_CONFIG__USENET__IN_FLIGHT_ARTICLE_BUDGET_MB"] = "512", ["CHECK_BLOCKS"] = "true" };
        string[] flags = ["--layout=pack", "--files=8", "--size=200", "--providers=2", "--latency=20", "--steps=1", $"--soak={minutes}", "--timeout=3600", "--quiet"];
        var metrics = (await MeasuredRun.RunAsync(flags, settings, TestContext.Current.CancellationToken)).GetProperty("metrics");
        var soak = metrics.GetProperty("soak");
        Assert.Equal((0, 0), (metrics.GetProperty("bytes_wrong").GetInt64(), soak.GetProperty("left").GetInt64()));

        // An article damaged at both providers ends a read, and some 2 % of the articles are.
        var ended = soak.GetProperty("reads_broken").GetInt32() + soak.GetProperty("reads_refused").GetInt32();
        Assert.InRange(ended, 0, soak.GetProperty("reads_whole").GetInt32() / 2);
        Assert.InRange(metrics.GetProperty("connections_peak").GetInt32(), 1, 40);

        // All readers progress; none waits for the others.
        Assert.InRange(soak.GetProperty("least_share").GetDouble(), 0.5, 1);

        // The readers do the same all the time, so the system resources of the server must not grow.
        foreach (var held in new[] { "handles_added", "sockets_added", "threads_added" })
            Assert.InRange(soak.GetProperty(held).GetDouble(), double.NegativeInfinity, 5);
    }
}
