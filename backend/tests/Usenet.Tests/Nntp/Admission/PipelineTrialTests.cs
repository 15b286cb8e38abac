using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

public sealed class PipelineTrialTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(FaultKind.CommandSwapped)]
    [InlineData(FaultKind.PolicyNoPipelining)]
    public async Task Provider_breaking_pipelined_commands_is_pinned_to_depth_1(FaultKind kind)
    {
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(400),
            new MockOptions { Providers = [new MockProvider { Latency = TimeSpan.FromMilliseconds(2) }], Faults = [new MockFault { Kind = kind }] },
            new NntpOptions { CloseGrace = TimeSpan.FromMilliseconds(1), PlaybackStall = TimeSpan.FromMilliseconds(500) },
            provider: (_, account) => account with { MaxConnections = 4 });
        for (var round = 0; round < 3; round++)
            await ReadWholeAsync(host);

        var status = host.Pool.Status(0);
        Assert.Equal(1, status.PipeliningDepth);
        Assert.StartsWith("Connections break when several commands are on their way", status.PinnedBecause, StringComparison.Ordinal);

        // Without pipelining nothing breaks any more.
        var happened = host.Mock.Stats.FaultCount(kind);
        await ReadWholeAsync(host);
        Assert.Equal(happened, host.Mock.Stats.FaultCount(kind));
        await host.AssertNothingIsLeftAsync(Token);
    }

    [Fact]
    public void Failures_seen_also_without_pipelining_do_not_count()
    {
        var trial = new PipelineTrial(TimeProvider.System);
        for (var round = 0; round < 50; round++)
        {
            for (var i = 0; i < 3; i++)
                trial.Broke(NntpFault.ConnectionClosed, pipelined: true);
            Assert.False(trial.MayPipeline);
            for (var i = 0; i < 10; i++)
                Assert.False(trial.Answered(pipelined: false));
            trial.Broke(NntpFault.ConnectionClosed, pipelined: false);
            Assert.True(trial.MayPipeline);
        }

        Assert.Null(trial.PinnedBecause);
    }

    [Fact]
    public void Line_outages_do_not_disable_pipelining()
    {
        var trial = new PipelineTrial(TimeProvider.System);
        for (var outage = 0; outage < 20; outage++)
        {
            for (var connection = 0; connection < 20; connection++)
                trial.Broke(NntpFault.Stalled, pipelined: true);
            for (var i = 0; i < 20; i++)
                Assert.False(trial.Answered(pipelined: false));
            Assert.True(trial.MayPipeline);
            for (var i = 0; i < 200; i++)
                Assert.False(trial.Answered(pipelined: true));
        }
    }

    [Fact]
    public void Rare_failures_keep_pipelining_enabled()
    {
        var trial = new PipelineTrial(TimeProvider.System);
        for (var round = 0; round < 1_000; round++)
        {
            for (var i = 0; i < 25; i++)
                trial.Answered(pipelined: true);
            trial.Broke(NntpFault.ConnectionClosed, pipelined: true);
            Assert.True(trial.MayPipeline);
        }
    }

    [Fact]
    public void Two_failed_trials_pin_the_depth_for_about_six_hours()
    {
        var time = new ManualTimeProvider();
        var trial = new PipelineTrial(time);
        Assert.False(Fail(trial));
        Assert.True(Fail(trial));
        Assert.NotNull(trial.PinnedBecause);
        time.Advance(TimeSpan.FromHours(5));
        Assert.False(trial.MayPipeline);
        time.Advance(TimeSpan.FromHours(2));
        Assert.True(trial.MayPipeline);
        Assert.Null(trial.PinnedBecause);

        // After the pin has expired, a single failed trial pins the depth again.
        Assert.True(Fail(trial));
    }

    private static bool Fail(PipelineTrial trial)
    {
        for (var i = 0; i < 3; i++)
            trial.Broke(NntpFault.WrongArticle, pipelined: true);
        Assert.False(trial.MayPipeline);
        var settled = false;
        for (var i = 0; i < 20; i++)
            settled = trial.Answered(pipelined: false);
        return settled;
    }

    private static async Task ReadWholeAsync(EngineHost host)
    {
        await using var stream = host.Open();
        var buffer = new byte[100_000];
        for (long position = 0; position < host.Release.Files[0].Size;)
        {
            var count = await stream.ReadAsync(buffer, Token);
            Assert.True(count > 0, $"short read at {position}");
            Assert.True(buffer.AsSpan(0, count).SequenceEqual(host.Truth(position, count)), $"wrong bytes at {position}");
            position += count;
        }
    }
}
