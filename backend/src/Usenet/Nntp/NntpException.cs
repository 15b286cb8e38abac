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

    /// <summary>Whether the same call may succeed a moment later without anybody changing a setting.</summary>
    public bool IsTransient => Fault is not (NntpFault.LoginRefused or NntpFault.NoProvider or NntpFault.TlsFailed);
}
