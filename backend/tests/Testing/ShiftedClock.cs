namespace Sluice.Testing;

/// <summary>
/// The clock of the system with a wall clock that a test sets forwards and backwards while everything runs; timestamps and timers are
/// the system's own. Thread-safe.
/// </summary>
public sealed class ShiftedClock : TimeProvider
{
    private long _shift;

    /// <inheritdoc/>
    public override DateTimeOffset GetUtcNow() => System.GetUtcNow() + TimeSpan.FromTicks(Volatile.Read(ref _shift));

    /// <summary>Sets the wall clock to this far from the true one.</summary>
    public void SetApart(TimeSpan shift) => Volatile.Write(ref _shift, shift.Ticks);
}
