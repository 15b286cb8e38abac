namespace Sluice.Usenet.Primitives;

/// <summary>
/// The time of day, as an administrator or NTP may set it forwards and backwards at any moment (F43). It is for what is shown or
/// stored; whatever lasts or runs out inside the process is measured by <see cref="TimeProvider.GetTimestamp"/>.
/// </summary>
public static class WallClock
{
    /// <summary>The time of day now.</summary>
    public static DateTimeOffset WallTime(this TimeProvider time)
    {
        ArgumentNullException.ThrowIfNull(time);
        return time.GetUtcNow();
    }

    /// <summary>The day of the time zone of this machine.</summary>
    public static DateOnly LocalDay(this TimeProvider time)
    {
        ArgumentNullException.ThrowIfNull(time);
        return DateOnly.FromDateTime(TimeZoneInfo.ConvertTime(time.GetUtcNow(), time.LocalTimeZone).DateTime);
    }

    /// <summary>The timestamp of a stored time that has come, or is still to come.</summary>
    /// <param name="time">The clock.</param>
    /// <param name="stored">What an earlier run has stored, by a clock that may have been set since.</param>
    /// <param name="past">How long ago it can be at most.</param>
    /// <param name="ahead">How far ahead it can be at most.</param>
    public static long TimestampOf(this TimeProvider time, DateTimeOffset stored, TimeSpan past, TimeSpan ahead)
    {
        ArgumentNullException.ThrowIfNull(time);
        var left = stored - time.GetUtcNow();
        left = left < -past ? -past : left > ahead ? ahead : left;
        return time.GetTimestamp() + (long)(left.Ticks * (time.TimestampFrequency / (double)TimeSpan.TicksPerSecond));
    }

    /// <summary>The time of day that belongs to a timestamp of this run, for storing.</summary>
    public static DateTimeOffset WallTimeOf(this TimeProvider time, long timestamp)
    {
        ArgumentNullException.ThrowIfNull(time);
        return time.GetUtcNow() + time.GetElapsedTime(time.GetTimestamp(), timestamp);
    }
}
