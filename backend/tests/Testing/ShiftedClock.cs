namespace Sluice.Testing;

/// <summary>
/// The system's clock, except that a test can shift the wall clock forwards and backwards while everything runs. Timestamps and timers
/// are the system's. Thread-safe.
/// </summary>
public sealed class ShiftedClock : TimeProvider
{
    private long _shift;

    /// <inheritdoc/>
    public override DateTimeOffset GetUtcNow() => System.GetUtcNow() + TimeSpan.FromTicks(Volatile.Read(ref _shift));

    /// <summary>Shifts the wall clock by this span from the system's.</summary>
    public void SetApart(TimeSpan shift) => Volatile.Write(ref _shift, shift.Ticks);
}
