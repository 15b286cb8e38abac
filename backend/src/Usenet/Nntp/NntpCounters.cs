namespace Sluice.Usenet.Nntp;

/// <summary>What a pool of providers has sent, received and waited for since it was made.</summary>
/// <remarks>A snapshot; the figures of one are read one after the other while fetches go on.</remarks>
public readonly record struct NntpCounters
{
    /// <summary>Commands written to a socket, those of the login included.</summary>
    public long Commands { get; init; }

    /// <summary>BODY commands among them.</summary>
    public long Bodies { get; init; }

    /// <summary>STAT commands among them.</summary>
    public long Stats { get; init; }

    /// <summary>Writes that took them to a socket, those of logins left out: commands that are ready together leave in one.</summary>
    public long Flushes { get; init; }

    /// <summary>Bodies received up to their terminator, unwanted ones included.</summary>
    public long Articles { get; init; }

    /// <summary>Replies 430, 423 and 451 to BODY.</summary>
    public long Misses { get; init; }

    /// <summary>Commands whose reply had not been read to its end when their connection was lost or given up.</summary>
    public long Unanswered { get; init; }

    /// <summary>Bytes received, before TLS: replies, bodies and terminators.</summary>
    public long BytesReceived { get; init; }

    /// <summary>TCP connections made, those that were refused by a greeting or a login included.</summary>
    public long SocketsOpened { get; init; }

    /// <summary>
    /// Connections given up before the system said whether they had come about, so that the provider may have seen one that is not
    /// counted as opened.
    /// </summary>
    public long SocketsAbandoned { get; init; }

    /// <summary>Most sockets at a time, those that were being opened or closed included.</summary>
    public long SocketsPeak { get; init; }

    /// <summary>Tries of fetches at one provider, those that were given up included.</summary>
    public long Tries { get; init; }

    /// <summary>Late articles that were asked for a second time while the first try was under way.</summary>
    public long Hedges { get; init; }

    /// <summary>Those whose second try brought bytes before the first did again.</summary>
    public long HedgesWon { get; init; }

    /// <summary>Sum over the tries of the time until permit and connection were held.</summary>
    public TimeSpan Waited { get; init; }

    /// <summary>Sum over the tries of the time until they ended, waiting included.</summary>
    public TimeSpan Fetched { get; init; }
}
