using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

public sealed class GlobalOperationLimiterTests
{
    [Theory]
    [InlineData(OperationLane.Playback)]
    [InlineData(OperationLane.Import)]
    [InlineData(OperationLane.HealthCheck)]
    public void Single_active_lane_may_use_every_permit(OperationLane lane)
    {
        var limiter = new GlobalOperationLimiter(20);
        Assert.Equal(20, TakeAll(limiter, lane).Count);
        Assert.Equal(20, limiter.Peak(lane));
    }

    [Fact]
    public void Background_during_playback_gets_a_fifth_and_at_least_one()
    {
        foreach (var (total, share) in new[] { (20, 4), (10, 2), (4, 1), (2, 1) })
        {
            var limiter = new GlobalOperationLimiter(total);
            using var playing = limiter.TryAcquire(OperationLane.Playback);
            Assert.NotNull(playing);
            Assert.Equal((total, share), (limiter.Effective(OperationLane.Playback), limiter.Effective(OperationLane.Import)));
            var import = TakeAll(limiter, OperationLane.Import);
            Assert.Equal(share, import.Count);
            Assert.Equal((total - share, share), (limiter.Effective(OperationLane.Playback), limiter.Effective(OperationLane.Import)));
            Assert.Empty(TakeAll(limiter, OperationLane.HealthCheck));
            Assert.Equal(total - share - 1, TakeAll(limiter, OperationLane.Playback).Count);
        }
    }

    [Fact]
    public void Import_yields_to_a_stream_as_its_permits_are_returned()
    {
        var limiter = new GlobalOperationLimiter(20);
        var import = TakeAll(limiter, OperationLane.Import);
        Assert.True(limiter.MayContinue(OperationLane.Import));
        Assert.Null(limiter.TryAcquire(OperationLane.Playback));
        Assert.False(limiter.MayContinue(OperationLane.Import));

        foreach (var permit in import.Take(16))
        {
            permit.Dispose();
            Assert.Null(limiter.TryAcquire(OperationLane.Import));
            Assert.NotNull(limiter.TryAcquire(OperationLane.Playback));
        }

        Assert.True(limiter.MayContinue(OperationLane.Import));
        Assert.Equal(16, limiter.InUse(OperationLane.Playback));
    }

    [Fact]
    public void Permit_is_returned_once_even_if_disposed_twice()
    {
        var limiter = new GlobalOperationLimiter(1);
        var returned = 0;
        limiter.Returned += () => returned++;
        var permit = limiter.TryAcquire(OperationLane.Playback)!;
        permit.Dispose();
        permit.Dispose();
        Assert.Equal(1, returned);
        Assert.Equal(0, limiter.InUse(OperationLane.Playback));
    }

    private static List<OperationPermit> TakeAll(GlobalOperationLimiter limiter, OperationLane lane)
    {
        var taken = new List<OperationPermit>();
        while (limiter.TryAcquire(lane) is { } permit)
            taken.Add(permit);
        return taken;
    }
}
