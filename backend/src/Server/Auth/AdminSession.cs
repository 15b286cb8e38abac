using Sluice.Server.Database;
using Sluice.Server.Listening;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Auth;

internal sealed record SessionPlace(string Address, string Agent)
{
    private const int MaxAgent = 200;

    public static SessionPlace Of(HttpContext http) => new(
        http.Connection.RemoteIpAddress is { } address ? TrustedProxies.Plain(address).ToString() : "",
        new string([.. http.Request.Headers.UserAgent.ToString().Where(c => !char.IsControl(c)).Take(MaxAgent)]));
}

/// <summary>A logged-in browser.</summary>
/// <param name="Hash">SHA-256 of the cookie.</param>
/// <param name="Created">Time of the login.</param>
/// <param name="Used">Last use, saved about once an hour.</param>
/// <param name="Proved">When the password was last entered; null if not since the server started.</param>
/// <param name="Place">Address and browser of the most recent use.</param>
internal sealed record AdminSession(string Hash, LivedTime Created, LivedTime Used, LivedTime? Proved, SessionPlace Place)
{
    /// <summary>Maximum lifetime of a session, however often it is used.</summary>
    public static readonly TimeSpan LongestLife = TimeSpan.FromDays(180);

    private const int IdDigits = 16;

    private static readonly TimeSpan ProofLifetime = TimeSpan.FromMinutes(10);
    private static readonly TimeSpan UseNoteInterval = TimeSpan.FromHours(1);
    private static readonly TimeSpan MoveNoteInterval = TimeSpan.FromMinutes(1);

    /// <summary>The id shown in the session list. It cannot be used to log in.</summary>
    public string Id => Hash[..IdDigits];

    /// <summary>Time until the session ends if it stays unused, at most <paramref name="idle"/>; zero or less if it has ended.</summary>
    public TimeSpan Left(TimeSpan idle, TimeProvider time)
    {
        var (unused, rest) = (idle - Used.Age(time), LongestLife - Created.Age(time));
        return unused < rest ? unused : rest;
    }

    /// <summary>Whether the password was entered within the last ten minutes.</summary>
    public bool IsProved(TimeProvider time) => Proved is { } proved && proved.Age(time) < ProofLifetime;

    /// <summary>Whether a use from this address and browser should be saved.</summary>
    public bool IsNoteworthy(SessionPlace place, TimeProvider time) => Used.Age(time) >= (place == Place ? UseNoteInterval : MoveNoteInterval);
}

/// <summary>
/// A point in time whose age is not affected by jumps of the wall clock, because the monotonic clock measures it. Times saved by an earlier run rely on the
/// wall clock; their timestamp is null.
/// </summary>
internal readonly record struct LivedTime(DateTimeOffset Stored, long? Timestamp)
{
    // Smaller differences do not justify a database write.
    private static readonly TimeSpan Tolerance = TimeSpan.FromHours(1);

    /// <summary>Whether the wall clock has jumped since this time was saved.</summary>
    public bool IsOff(TimeProvider time) => Timestamp is { } timestamp && (Stored - time.WallTimeOf(timestamp)).Duration() > Tolerance;

    public static LivedTime Now(TimeProvider time) => new(time.WallTime(), time.GetTimestamp());

    /// <summary>Loads a time saved by an earlier run. A time in the future becomes the current time, because one of the clocks was wrong.</summary>
    public static LivedTime Read(long milliseconds, TimeProvider time)
    {
        var stored = StoredTime.Read(milliseconds);
        return new LivedTime(stored, stored > time.WallTime() ? time.GetTimestamp() : null);
    }

    public TimeSpan Age(TimeProvider time) => Timestamp is { } timestamp ? time.GetElapsedTime(timestamp) : Since(time.WallTime());

    /// <summary>The same point in time according to the current wall clock.</summary>
    public LivedTime Corrected(TimeProvider time) => Timestamp is { } timestamp ? this with { Stored = time.WallTimeOf(timestamp) } : this;

    private TimeSpan Since(DateTimeOffset now) => now > Stored ? now - Stored : TimeSpan.Zero;
}
