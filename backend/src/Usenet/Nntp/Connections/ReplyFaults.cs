using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Nntp;

/// <summary>What is wrong with a reply that neither brings what was asked for nor says that it is missing.</summary>
internal static class ReplyFaults
{
    /// <summary>A 222 or 223 has to name the article that was asked for (RFC 3977 sections 6.2.3.2 and 6.2.4.2).</summary>
    public static void CheckEcho(in NntpResponse response, MessageId id)
    {
        switch (NntpResponseReader.Names(response, id.Bytes))
        {
            case null:
                throw new NntpException(NntpFault.MalformedReply, "The server answered without naming the article.");
            case false:
                throw new NntpException(NntpFault.WrongArticle, "The server answered with another article than the one asked for.");
        }
    }

    /// <summary>A miss does not have to name its article (RFC 3977 section 6.2.3.2); where it names one, it has to be the one that was asked for.</summary>
    public static void CheckMiss(in NntpResponse response, MessageId id)
    {
        if (NntpResponseReader.NamesAnother(response, id.Bytes))
            throw new NntpException(NntpFault.WrongArticle, "The server said that it does not have another article than the one asked for.");
    }

    /// <summary>The answer to another command has come.</summary>
    public static NntpException OutOfStep() => new(NntpFault.MalformedReply, "The server answered a command with the reply to another.");

    /// <summary>A line that came while nothing was outstanding, or that ends the session.</summary>
    public static NntpException Unsolicited(in NntpResponse response) => response.Code switch
    {
        NntpResponseCode.ServiceUnavailable or NntpResponseCode.PermanentlyUnavailable =>
            new(NntpFault.ConnectionClosed, $"The server ended the session: {response.Code} {response.PrintableText()}"),
        _ => new(NntpFault.MalformedReply, "The server sent a reply that nobody asked for."),
    };

    /// <summary>A command was refused.</summary>
    public static NntpException Refused(in NntpResponse response) => response.SaysTooManyConnections()
        ? new(NntpFault.TooManyConnections, $"The server allows no more connections: {response.Code} {response.PrintableText()}")
        : new(NntpFault.UnexpectedCode, $"The server refused a command: {response.Code} {response.PrintableText()}");
}
