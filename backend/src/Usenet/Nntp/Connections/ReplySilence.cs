namespace Sluice.Usenet.Nntp;

/// <summary>
/// How long a connection has kept silent that owes a reply, and what that means: late, when its article is asked for elsewhere as well;
/// stalled, when the connection is given up. Both are moved by progress alone: a whole line, or as many bytes of a body as may be
/// expected in the time.
/// </summary>
/// <remarks>Told by the read loop; asked by the timer, at any time.</remarks>
/// <param name="hasUnread">Whether bytes have come that the read loop has not seen.</param>
/// <param name="sent">What it owes.</param>
/// <param name="line">What it has shown.</param>
/// <param name="policy">What is late.</param>
/// <param name="options">The least that a body brings in a second.</param>
/// <param name="time">Clock.</param>
internal sealed class ReplySilence(Func<bool> hasUnread, PendingReplies sent, LineEstimate line, StragglerPolicy policy, NntpOptions options, TimeProvider time)
{
    // Fewer bytes are no sign of life: a server that sends one a second will not finish.
    private const int TellingBytes = 1024;

    // Read loop only.
    private TimeSpan _longest;
    private long _untold;

    /// <summary>
    /// Whether it is looked for at all. Where nothing is asked for twice it is still, as long as a reply that is not wanted holds up
    /// another: what is behind it is asked for elsewhere then.
    /// </summary>
    public bool IsWatched => policy.IsEnabled || sent.IsHeldUpByAbandoned;

    /// <summary>How soon a command that is sent now could be late.</summary>
    public TimeSpan Soonest => policy.Patience(line) + TimeSpan.FromSeconds(line.RoundTrip);

    /// <summary>Whether the connection has been silent for longer than is usual.</summary>
    public bool IsUnusual => Length(time.GetTimestamp(), out _) >= policy.Patience(line);

    /// <summary>Time without progress of the first reply, from when its turn came; zero while nothing is outstanding.</summary>
    public TimeSpan Stall => sent.SilentSince(roundTrip: 0) is var since and not long.MaxValue ? time.GetElapsedTime(since) : TimeSpan.Zero;

    /// <summary>Time since the end of the last reply; meaningless while something is outstanding.</summary>
    public TimeSpan Rest => time.GetElapsedTime(sent.RestsSince);

    /// <summary>Whether nothing has been heard since the first command was sent, after a rest of at least this long.</summary>
    public bool IsFirstAfter(TimeSpan rest) => sent.IsFirstAfterRest(TicksOf(rest));

    /// <summary>Whether what it owes should be asked for elsewhere. From then on it is late, until a sign of life comes or the reply ends.</summary>
    /// <param name="due">How soon to look again.</param>
    public bool IsLate(out TimeSpan due)
    {
        var patience = policy.Patience(line);
        var now = time.GetTimestamp();
        due = patience - Length(now, out var since);
        if (due > TimeSpan.Zero)
            return false;

        // Where nothing at all comes in, another connection would be as silent: then only what a reader waits for is worth a try. And what
        // has come and has not been read says that it is this process that is late.
        due = patience / 2;
        var othersAreHeard = time.GetElapsedTime(since, line.Silences.HeardAt) >= patience / 2;
        return (othersAreHeard || sent.IsAnyAwaited) && !hasUnread() && sent.TryBeLate(now - TicksOf(patience), RoundTrip);
    }

    /// <summary>Whether a reply that is not wanted holds up another and has been silent for so long that it is not worth its socket.</summary>
    /// <param name="drain">How long the rest of an unwanted article may take.</param>
    public bool IsStuck(TimeSpan drain)
    {
        var silence = Length(time.GetTimestamp(), out _);
        return silence >= drain && silence >= policy.Patience(line) && sent.IsHeldUpByAbandoned;
    }

    /// <summary>Bytes of a body have come.</summary>
    public void Received(long bytes, long now)
    {
        _untold += bytes;
        var silence = time.GetElapsedTime(sent.SilentSince(roundTrip: 0), now);
        if (_untold >= Math.Max(TellingBytes, silence.TotalSeconds * options.MinimumBytesPerSecond))
            Heard(now);
    }

    /// <summary>There was a sign of life: enough bytes of a body, or a whole line.</summary>
    public void Heard(long now)
    {
        var length = Length(now, out _);
        if (length > _longest)
            _longest = length;
        _untold = 0;
        sent.Heard(now);
        line.Silences.Heard(now);
    }

    /// <summary>A body has come to its end.</summary>
    public void Ended()
    {
        line.Silences.Observe(_longest);
        _longest = TimeSpan.Zero;
    }

    /// <summary>The connection is given up for its silence: that counts towards what is usual, lest too much is given up.</summary>
    public void GivenUp() => line.Silences.Observe(Length(time.GetTimestamp(), out _));

    private TimeSpan Length(long now, out long since)
    {
        since = sent.SilentSince(RoundTrip);
        return time.GetElapsedTime(since, now);
    }

    private long RoundTrip => (long)(line.RoundTrip * time.TimestampFrequency);

    private long TicksOf(TimeSpan span) => (long)(span.TotalSeconds * time.TimestampFrequency);
}
