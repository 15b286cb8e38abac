namespace Sluice.Server.WebDav;

/// <summary>Why bytes of a file cannot be had.</summary>
internal enum ContentFault
{
    /// <summary>The cause may pass: 503 before the headers.</summary>
    Transient,

    /// <summary>They are proved gone or corrupt everywhere: 410 before the headers.</summary>
    Gone,
}

/// <summary>Bytes that a file advertises cannot be had. The path itself is right: this is never a 404.</summary>
internal sealed class ContentUnavailableException : IOException
{
    /// <summary>Creates the exception.</summary>
    /// <param name="fault">Whether it may pass.</param>
    /// <param name="reason">One sentence for the client, without names or paths.</param>
    /// <param name="inner">What went wrong below.</param>
    public ContentUnavailableException(ContentFault fault, string reason, Exception? inner = null)
        : base(reason, inner) => Fault = fault;

    /// <summary>Whether it may pass.</summary>
    public ContentFault Fault { get; }
}
