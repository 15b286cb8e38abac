namespace Sluice.Usenet.Nntp;

/// <summary>
/// How long a connection has kept silent that owes a reply, counted from when a byte could have come: from the last one, from the end
/// of the reply before, or from a round trip after the command, whichever was last.
/// </summary>
/// <remarks>Told by the read loop; asked by the timer, at any time.</remarks>
/// <param name="hasUnread">Whether bytes have come that the read loop has not seen.</param>
/// <param name="sent">What it owes.</param>
/// <param name="line">What it has shown.</param>
/// <param name="policy">What is late.</param>
/// <param name="time">Clock.</param>
internal sealed class ReplySilence(Func<bool> hasUnread, PendingReplies sent, LineEstimate line, StragglerPolicy policy, TimeProvider time)
{
    // Fewer bytes are no sign of life: a server that sends one a second will not finish.
    private const int TellingBytes = 1024;

    // Written by the read loop, read by the timer; one word, and a value that is one read old only shifts a look.
    private long _heardAt;

    // Read loop only.
    private TimeSpan _longest;
    private long _untold;

    /// <summary>
    /// Whether it is looked for at all. Where nothing is asked for twice it is still, as long as an article that nobody wants holds up
    /// another: what is behind it is asked for elsewhere then.
    /// </summary>
    public bool IsWatched => policy.IsEnabled || sent.IsHeldUpByAbandoned;

    /// <summary>How soon a command that is sent now could be late.</summary>
    public TimeSpan Soonest => policy.Patience(line) + TimeSpan.FromSeconds(line.RoundTrip);

    /// <summary>Whether the connection has been silent for longer than is usual.</summary>
    public bool IsUnusual => Length(time.GetTimestamp(), out _) >= policy.Patience(line);

    /// <summary>Whether what it owes should be asked for elsewhere.</summary>
    /// <param name="due">How soon to look again.</param>
    public bool IsLate(out TimeSpan due)
    {
        var patience = policy.Patience(line);
        due = patience - Length(time.GetTimestamp(), out var since);
        if (due > TimeSpan.Zero)
            return false;

        // Where nothing at all comes in, another connection would be as silent: then only what a reader waits for is worth a try. And what
        // has come and has not been read says that it is this process that is late.
        due = patience / 2;
        var othersAreHeard = time.GetElapsedTime(since, line.Silences.HeardAt) >= patience / 2;
        return (othersAreHeard || sent.IsAnyAwaited) && !hasUnread();
    }

    /// <summary>Whether an article that nobody wants holds up another and has been silent for so long that it is not worth its socket.</summary>
    /// <param name="drain">How long the rest of an unwanted article may take.</param>
    public bool IsStuck(TimeSpan drain)
    {
        var silence = Length(time.GetTimestamp(), out _);
        return silence >= drain && silence >= policy.Patience(line) && sent.IsHeldUpByAbandoned;
    }

    /// <summary>Whether the body under way has come in more slowly than the least allowed, for at least this long.</summary>
    /// <param name="bytesPerSecond">The least.</param>
    /// <param name="atLeast">Sooner it says nothing.</param>
    public bool IsTrickling(int bytesPerSecond, TimeSpan atLeast)
    {
        var (startedAt, received) = sent.Body;
        if (startedAt == 0)
            return false;
        var elapsed = time.GetElapsedTime(startedAt);
        return elapsed >= atLeast && received < elapsed.TotalSeconds * bytesPerSecond;
    }

    /// <summary>Bytes have come.</summary>
    public void Received(long bytes, long now)
    {
        _untold += bytes;
        if (_untold >= TellingBytes)
            Heard(now);
    }

    /// <summary>There was a sign of life: enough bytes, or a whole line.</summary>
    public void Heard(long now)
    {
        var length = Length(now, out _);
        if (length > _longest)
            _longest = length;
        Volatile.Write(ref _heardAt, now);
        _untold = 0;
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
        since = Math.Max(sent.DueAt((long)(line.RoundTrip * time.TimestampFrequency)), Volatile.Read(ref _heardAt));
        return time.GetElapsedTime(since, now);
    }
}
