namespace Sluice.Usenet.Nntp;

/// <summary>Something broke between us and a news server, so nothing is known about the article that was asked for.</summary>
public sealed class NntpException : IOException
{
    /// <summary>Creates the exception.</summary>
    /// <param name="fault">What broke.</param>
    /// <param name="message">One sentence for an operator, without credentials.</param>
    /// <param name="inner">What the system said, if anything.</param>
    public NntpException(NntpFault fault, string message, Exception? inner = null)
        : base(message, inner) => Fault = fault;

    /// <summary>What broke.</summary>
    public NntpFault Fault { get; }

    /// <summary>Whether every provider that has the article has given this answer, so that asking again would bring the same.</summary>
    public bool IsOfEveryProvider { get; init; }

    /// <summary>Whether the reply itself is of no use: that may be the article's own, and then no later try is any better.</summary>
    public bool IsOfReply => Fault is NntpFault.ArticleTooLarge or NntpFault.WrongArticle or NntpFault.MalformedReply;

    /// <summary>Whether the same call may succeed a moment later without a change of the settings.</summary>
    public bool IsTransient => !IsOfEveryProvider && Fault is not (NntpFault.LoginRefused or NntpFault.NoProvider or NntpFault.TlsFailed);

    /// <summary>
    /// What this says about an article that was not asked for because of it. A reply of no use was the reply to something else then, and
    /// a later try is worth as much as with a line that is down.
    /// </summary>
    internal NntpException BeforeAsked() => IsOfReply ? new NntpException(NntpFault.NoConnection, Message, this) : this;
}
