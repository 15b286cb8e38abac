namespace Sluice.Usenet.Primitives;

/// <summary>The wall clock, which an administrator or NTP may set forward or back at any moment (F43).</summary>
/// <remarks>Only for displayed and stored times; durations in the process use <see cref="TimeProvider.GetTimestamp"/>.</remarks>
public static class WallClock
{
    public static DateTimeOffset WallTime(this TimeProvider time)
    {
        ArgumentNullException.ThrowIfNull(time);
        return time.GetUtcNow();
    }

    /// <summary>Returns the current day in this machine's time zone.</summary>
    public static DateOnly LocalDay(this TimeProvider time)
    {
        ArgumentNullException.ThrowIfNull(time);
        return DateOnly.FromDateTime(TimeZoneInfo.ConvertTime(time.GetUtcNow(), time.LocalTimeZone).DateTime);
    }

    /// <summary>Converts a time stored by an earlier run to a timestamp. Clamped to both limits, because the clock may have changed.</summary>
    public static long TimestampOf(this TimeProvider time, DateTimeOffset stored, TimeSpan past, TimeSpan ahead)
    {
        ArgumentNullException.ThrowIfNull(time);
        var left = stored - time.GetUtcNow();
        left = left < -past ? -past : left > ahead ? ahead : left;
        return time.GetTimestamp() + (long)(left.Ticks * (time.TimestampFrequency / (double)TimeSpan.TicksPerSecond));
    }

    /// <summary>Converts a timestamp of this run to wall-clock time, for storing.</summary>
    public static DateTimeOffset WallTimeOf(this TimeProvider time, long timestamp)
    {
        ArgumentNullException.ThrowIfNull(time);
        return time.GetUtcNow() + time.GetElapsedTime(time.GetTimestamp(), timestamp);
    }
}
