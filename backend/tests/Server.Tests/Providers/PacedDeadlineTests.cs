using Sluice.Server.Providers;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Providers;

public sealed class PacedDeadlineTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(3);
    private static readonly TimeSpan Moment = TimeSpan.FromTicks(1);

    private readonly ManualTimeProvider _time = new();

    // Time of the last fetch that the bandwidth limit delayed; null if none was.
    private long? _pacedAt;

    [Fact]
    public async Task Deadline_cancels_work_without_progress()
    {
        await using var deadline = Begin();
        _time.Advance(Limit - Moment);
        deadline.Restart(Limit);
        _time.Advance(Limit - Moment);
        Assert.False(deadline.Token.IsCancellationRequested);
        _time.Advance(Moment);
        Assert.True(deadline.Token.IsCancellationRequested);
    }

    [Fact]
    public async Task Bandwidth_pacing_restarts_the_deadline()
    {
        await using var deadline = Begin();
        for (var i = 0; i < 100; i++)
        {
            _time.Advance(Limit / 10);
            _pacedAt = _time.GetTimestamp();
        }

        _time.Advance(Limit - Moment);
        Assert.False(deadline.Token.IsCancellationRequested);
        _time.Advance(Moment);
        Assert.True(deadline.Token.IsCancellationRequested);
    }

    private PacedDeadline Begin() => new(Limit, _time, () => _pacedAt is { } at ? _time.GetElapsedTime(at) : TimeSpan.MaxValue);
}
