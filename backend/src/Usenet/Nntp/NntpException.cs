namespace Sluice.Usenet.Nntp;

/// <summary>What broke between us and a news server. A missing article is not a fault.</summary>
public enum NntpFault
{
    /// <summary>The host name could not be resolved.</summary>
    NameNotResolved,

    /// <summary>TCP could not connect: refused, unreachable or reset.</summary>
    ConnectFailed,

    /// <summary>TCP, TLS, greeting and login did not finish in time.</summary>
    ConnectTimeout,

    /// <summary>The TLS handshake failed: the port speaks none, or none that is safe.</summary>
    TlsFailed,

    /// <summary>The greeting was not 200 or 201 (RFC 3977 section 5.1).</summary>
    GreetingRefused,

    /// <summary>The server refuses the user or password (RFC 4643 section 2.3).</summary>
    LoginRefused,

    /// <summary>The server says that there are too many connections.</summary>
    TooManyConnections,

    /// <summary>The server closed the connection, or it was reset.</summary>
    ConnectionClosed,

    /// <summary>No byte arrived for longer than the lane allows.</summary>
    Stalled,

    /// <summary>The connection was closed by us, because a reply before this one did not come; nothing is known about this one.</summary>
    GivenUp,

    /// <summary>Something failed in this process while a reply came in; nothing is known about the server.</summary>
    Broken,

    /// <summary>A reply is malformed, or longer than a line may be.</summary>
    MalformedReply,

    /// <summary>The reply names another article than the one asked for.</summary>
    WrongArticle,

    /// <summary>The reply code fits no rule of the command.</summary>
    UnexpectedCode,

    /// <summary>The body is longer than an article may be.</summary>
    ArticleTooLarge,

    /// <summary>No connection became free in time.</summary>
    NoConnection,

    /// <summary>No provider is configured, or all of them are disabled.</summary>
    NoProvider,

    /// <summary>The certificate is for another host, out of date, of no issuer that is trusted, or not the one that is pinned.</summary>
    CertificateRefused,

    /// <summary>The server knows the user, and says that the account has expired, is blocked or is used up.</summary>
    AccountRefused,
}

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

    /// <summary>
    /// The reply that says so, printable, as in <c>481 Authentication failed</c>; the reply that names no article, as in <c>222 body follows</c>;
    /// of a certificate what is wrong with it, as in <c>is out of
    /// date</c>. Null for nothing.
    /// </summary>
    public string? Detail { get; init; }

    /// <summary>Whether every provider that has the article has given this answer, so that asking again would bring the same.</summary>
    public bool IsOfEveryProvider { get; init; }

    /// <summary>Whether the reply itself is of no use: that may be the article's own, and then no later try is any better.</summary>
    public bool IsOfReply => Fault is NntpFault.ArticleTooLarge or NntpFault.WrongArticle or NntpFault.MalformedReply;

    /// <summary>Whether the same call may succeed a moment later without a change of the settings.</summary>
    public bool IsTransient => !IsOfEveryProvider && Fault is not (NntpFault.LoginRefused or NntpFault.AccountRefused or NntpFault.NoProvider or NntpFault.TlsFailed or NntpFault.CertificateRefused);

    /// <summary>
    /// What this says about an article that was not asked for because of it. A reply of no use was the reply to something else then, and
    /// a later try is worth as much as with a line that is down.
    /// </summary>
    internal NntpException BeforeAsked() => IsOfReply ? new NntpException(NntpFault.NoConnection, Message, this) : this;
}
