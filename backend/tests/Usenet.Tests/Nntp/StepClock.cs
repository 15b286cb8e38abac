using Sluice.Testing;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>
/// A manual clock that lets a test act when a timer is set again.
/// </summary>
internal sealed class StepClock : TimeProvider
{
    private readonly ManualTimeProvider _clock = new();

    /// <summary>Runs once, at the next change of a timer, before the timer is set.</summary>
    public Action? AtNextChange { get; set; }

    public override long TimestampFrequency => _clock.TimestampFrequency;

    public void Advance(TimeSpan span) => _clock.Advance(span);

    public override DateTimeOffset GetUtcNow() => _clock.GetUtcNow();

    public override long GetTimestamp() => _clock.GetTimestamp();

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) =>
        new HookedTimer(this, _clock.CreateTimer(callback, state, dueTime, period));

    private sealed class HookedTimer(StepClock clock, ITimer timer) : ITimer
    {
        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            var act = clock.AtNextChange;
            clock.AtNextChange = null;
            act?.Invoke();
            return timer.Change(dueTime, period);
        }

        public void Dispose() => timer.Dispose();

        public ValueTask DisposeAsync() => timer.DisposeAsync();
    }
}
