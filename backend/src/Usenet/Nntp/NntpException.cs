namespace Sluice.Usenet.Nntp;

/// <summary>A failure between this process and a news server. A missing article is not a fault.</summary>
public enum NntpFault
{
    NameNotResolved,

    /// <summary>TCP could not connect: refused, unreachable or reset.</summary>
    ConnectFailed,

    /// <summary>TCP, TLS, greeting and login did not finish in time.</summary>
    ConnectTimeout,

    /// <summary>The TLS handshake failed, because the port speaks no TLS or only unsafe versions.</summary>
    TlsFailed,

    /// <summary>The greeting was not 200 or 201 (RFC 3977 section 5.1).</summary>
    GreetingRefused,

    /// <summary>The server refused the user name or password (RFC 4643 section 2.3).</summary>
    LoginRefused,

    TooManyConnections,

    /// <summary>The server closed or reset the connection.</summary>
    ConnectionClosed,

    /// <summary>No byte arrived for longer than the lane allows.</summary>
    Stalled,

    /// <summary>This side closed the connection because an earlier reply did not arrive. Nothing is known about this reply.</summary>
    GivenUp,

    /// <summary>This process failed while a reply arrived, which says nothing about the server.</summary>
    Broken,

    /// <summary>A reply is malformed, or its status line is too long.</summary>
    MalformedReply,

    WrongArticle,

    /// <summary>The command does not allow this reply code.</summary>
    UnexpectedCode,

    /// <summary>The body is larger than an article can be.</summary>
    ArticleTooLarge,

    NoConnection,

    /// <summary>No provider is configured, or all are disabled.</summary>
    NoProvider,

    /// <summary>The certificate is for another host, expired or not yet valid, from an untrusted issuer, or does not match the pin.</summary>
    CertificateRefused,

    /// <summary>The server knows the user, but the account has expired, is blocked or has no volume left.</summary>
    AccountRefused,

    /// <summary>The data cap set for the account leaves no room for the article, so it was not asked.</summary>
    QuotaReached,
}

/// <summary>A failure between this process and a news server, so nothing is known about the requested article.</summary>
public sealed class NntpException : IOException
{
    /// <summary>Creates the exception; the message is one sentence for an operator, without credentials.</summary>
    public NntpException(NntpFault fault, string message, Exception? inner = null)
        : base(message, inner) => Fault = fault;

    public NntpFault Fault { get; }

    /// <summary>
    /// The server's words in printable form, such as <c>481 Authentication failed</c> or <c>222 body follows</c>; for a certificate, its flaw,
    /// such as <c>is out of date</c>. Null if there are none.
    /// </summary>
    public string? Detail { get; init; }

    /// <summary>Whether every provider with the article gave this reply, so that a retry would get the same reply.</summary>
    public bool IsOfEveryProvider { get; init; }

    /// <summary>Whether the reply itself is unusable. The article may be the cause, so retries do not help.</summary>
    public bool IsOfReply => Fault is NntpFault.ArticleTooLarge or NntpFault.WrongArticle or NntpFault.MalformedReply;

    /// <summary>Whether the same call may succeed a moment later without a settings change.</summary>
    public bool IsTransient => !IsOfEveryProvider && Fault is not (NntpFault.LoginRefused or NntpFault.AccountRefused or NntpFault.QuotaReached or NntpFault.NoProvider or NntpFault.TlsFailed or NntpFault.CertificateRefused);

    /// <summary>Returns the fault to report for an article that was never requested.</summary>
    /// <remarks>An unusable reply belonged to another article, so it becomes <see cref="NntpFault.NoConnection"/>, which allows retries.</remarks>
    internal NntpException BeforeAsked() => IsOfReply ? new NntpException(NntpFault.NoConnection, Message, this) : this;
}
