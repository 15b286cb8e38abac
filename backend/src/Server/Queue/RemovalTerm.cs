using Sluice.Server.Database;

namespace Sluice.Server.Queue;

/// <summary>How long removed files have been kept.</summary>
/// <param name="RemovedAt">Time of the removal in Unix milliseconds.</param>
/// <param name="KeptMs">Run time of the server since then, in milliseconds, as far as it was stored.</param>
internal readonly record struct RemovalAge(long RemovedAt, long KeptMs);

/// <summary>
/// Decides when removed files may be deleted. Pure. Both clocks must have passed the term, the wall clock and the run time of the server, so a wrong
/// time of day neither deletes anything early nor all at once (HLT-17). Many rounds add up to the run time, so no single reading decides.
/// </summary>
internal static class RemovalTerm
{
    /// <summary>How long removed files can be restored.</summary>
    public static readonly TimeSpan Length = TimeSpan.FromDays(7);

    /// <summary>Time between two rounds that store the run time.</summary>
    public static readonly TimeSpan Round = TimeSpan.FromHours(1);

    /// <summary>Adds the run time since the last round.</summary>
    /// <param name="now">Wall time in Unix milliseconds. If it lies before the removal, the clock was set back and the term starts again.</param>
    /// <param name="ran">Run time since the last round. Counts as two rounds at most, and never for the time before the removal.</param>
    public static RemovalAge Age(RemovalAge age, long now, TimeSpan ran)
    {
        if (now < age.RemovedAt)
            return new RemovalAge(now, 0);
        var most = Math.Min((long)(2 * Round).TotalMilliseconds, now - age.RemovedAt);
        var counted = Math.Clamp((long)ran.TotalMilliseconds, 0, most);
        return age with { KeptMs = age.KeptMs + counted };
    }

    /// <summary>Whether files of this age may be deleted for good.</summary>
    public static bool IsOver(RemovalAge age, long now)
    {
        var length = (long)Length.TotalMilliseconds;
        return age.KeptMs >= length && now - age.RemovedAt >= length;
    }

    /// <summary>The earliest time at which files of this age may be deleted, if the server runs until then.</summary>
    public static DateTimeOffset EndOf(RemovalAge age, DateTimeOffset now)
    {
        var byWall = StoredTime.Read(age.RemovedAt) + Length;
        var byRunTime = now + Length - TimeSpan.FromMilliseconds(Math.Min(age.KeptMs, Length.TotalMilliseconds));
        return byWall > byRunTime ? byWall : byRunTime;
    }
}
