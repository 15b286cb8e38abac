using Sluice.Server.Database;

namespace Sluice.Server.Queue;

/// <summary>How long removed files have been kept so far.</summary>
/// <param name="RemovedAt">Time of the removal in Unix milliseconds.</param>
/// <param name="KeptMs">Stored run time of the server since then, in milliseconds.</param>
internal readonly record struct RemovalAge(long RemovedAt, long KeptMs);

/// <summary>
/// Decides when removed files may be deleted. Pure. Both the wall clock and the server's run time must have passed the term, so a wrong time of day deletes
/// nothing early (HLT-17). The run time is the sum of many rounds, so no single clock reading decides.
/// </summary>
internal static class RemovalTerm
{
    /// <summary>How long removed files can be restored.</summary>
    public static readonly TimeSpan Length = TimeSpan.FromDays(7);

    /// <summary>Time between two rounds. Each round stores the run time.</summary>
    public static readonly TimeSpan Round = TimeSpan.FromHours(1);

    /// <summary>Adds the run time since the last round.</summary>
    /// <param name="now">Wall time in Unix milliseconds. If it is before the removal, the clock was set back and the term restarts.</param>
    /// <param name="ran">Run time since the last round. Counts as two rounds at most; time before the removal does not count.</param>
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
