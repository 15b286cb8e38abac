using Sluice.Server.Database;
using Sluice.Server.Listening;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Auth;

/// <summary>Where a session is used.</summary>
/// <param name="Address">Of the client.</param>
/// <param name="Agent">What its browser calls itself.</param>
internal sealed record SessionPlace(string Address, string Agent)
{
    private const int MaxAgent = 200;

    /// <summary>That of a request.</summary>
    public static SessionPlace Of(HttpContext http) => new(
        http.Connection.RemoteIpAddress is { } address ? TrustedProxies.Plain(address).ToString() : "",
        new string([.. http.Request.Headers.UserAgent.ToString().Where(c => !char.IsControl(c)).Take(MaxAgent)]));
}

/// <summary>A browser that has logged in.</summary>
/// <param name="Hash">SHA-256 of its cookie.</param>
/// <param name="Created">When it logged in.</param>
/// <param name="Used">When it was used last, to the hour.</param>
/// <param name="Proved">When it gave the password last, in this run; null if it has not.</param>
/// <param name="Place">Where it was used last.</param>
internal sealed record AdminSession(string Hash, LivedTime Created, LivedTime Used, LivedTime? Proved, SessionPlace Place)
{
    /// <summary>A session ends after this time, however often it is used.</summary>
    public static readonly TimeSpan LongestLife = TimeSpan.FromDays(180);

    private const int IdDigits = 16;

    private static readonly TimeSpan ProofLifetime = TimeSpan.FromMinutes(10);
    private static readonly TimeSpan UseNoted = TimeSpan.FromHours(1);
    private static readonly TimeSpan MoveNoted = TimeSpan.FromMinutes(1);

    /// <summary>Its name in the list of sessions, which does not open it.</summary>
    public string Id => Hash[..IdDigits];

    /// <summary>How much longer it lives if it is not used again; zero or less if it has ended.</summary>
    /// <param name="idle">A session ends when it was not used for this long.</param>
    /// <param name="time">The clock.</param>
    public TimeSpan Left(TimeSpan idle, TimeProvider time)
    {
        var (unused, rest) = (idle - Used.Age(time), LongestLife - Created.Age(time));
        return unused < rest ? unused : rest;
    }

    /// <summary>Whether it has given the password within the last ten minutes.</summary>
    public bool IsProved(TimeProvider time) => Proved is { } proved && proved.Age(time) < ProofLifetime;

    /// <summary>Whether a use from this place is to be saved.</summary>
    public bool IsNoteworthy(SessionPlace place, TimeProvider time) => Used.Age(time) >= (place == Place ? UseNoted : MoveNoted);
}

/// <summary>
/// A moment whose age survives a wall clock that is set forwards and backwards: one of this run is measured by the timestamp, and only one of an
/// earlier run by the time of day.
/// </summary>
/// <param name="Stored">The time of day as it is saved.</param>
/// <param name="Timestamp">That of the clock; null for a moment of an earlier run.</param>
internal readonly record struct LivedTime(DateTimeOffset Stored, long? Timestamp)
{
    // A clock that is adjusted in small steps is no reason to write.
    private static readonly TimeSpan Tolerance = TimeSpan.FromHours(1);

    /// <summary>Whether the time of day was another one when this moment was saved.</summary>
    public bool IsOff(TimeProvider time) => Timestamp is { } timestamp && (Stored - time.WallTimeOf(timestamp)).Duration() > Tolerance;

    /// <summary>This moment.</summary>
    public static LivedTime Now(TimeProvider time) => new(time.WallTime(), time.GetTimestamp());

    /// <summary>A moment that an earlier run saved. One ahead of the clock is taken for now: one of the two clocks was wrong.</summary>
    public static LivedTime Read(long milliseconds, TimeProvider time)
    {
        var stored = StoredTime.Read(milliseconds);
        return new LivedTime(stored, stored > time.WallTime() ? time.GetTimestamp() : null);
    }

    /// <summary>How long ago it was.</summary>
    public TimeSpan Age(TimeProvider time) => Timestamp is { } timestamp ? time.GetElapsedTime(timestamp) : Since(time.WallTime());

    /// <summary>The same moment by the time of day that the clock shows now.</summary>
    public LivedTime Corrected(TimeProvider time) => Timestamp is { } timestamp ? this with { Stored = time.WallTimeOf(timestamp) } : this;

    private TimeSpan Since(DateTimeOffset now) => now > Stored ? now - Stored : TimeSpan.Zero;
}
