namespace Sluice.Server.WebDav;

internal enum ContentFault
{
    /// <summary>May be temporary: 503 before the headers.</summary>
    Transient,

    /// <summary>Proved missing or corrupt on every provider: 410 before the headers.</summary>
    Gone,
}

/// <summary>Content of an existing file is unavailable. Never a 404, because the path is right.</summary>
internal sealed class ContentUnavailableException : IOException
{
    /// <summary>Creates the exception. The client sees <paramref name="reason"/>, so it must hold no names or paths.</summary>
    public ContentUnavailableException(ContentFault fault, string reason, Exception? inner = null)
        : base(reason, inner) => Fault = fault;

    public ContentFault Fault { get; }
}
