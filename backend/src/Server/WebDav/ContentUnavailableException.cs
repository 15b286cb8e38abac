namespace Sluice.Server.WebDav;

internal enum ContentFault
{
    /// <summary>The failure may be temporary. Sends 503 if the headers are still unsent.</summary>
    Transient,

    /// <summary>Every provider proved the content missing or corrupt. Sends 410 if the headers are still unsent.</summary>
    Gone,
}

/// <summary>The content of an existing file is unavailable. Never mapped to 404, because the path is right.</summary>
internal sealed class ContentUnavailableException : IOException
{
    /// <summary>Creates the exception. The client sees <paramref name="reason"/>, so it must not contain names or paths.</summary>
    public ContentUnavailableException(ContentFault fault, string reason, Exception? inner = null)
        : base(reason, inner) => Fault = fault;

    public ContentFault Fault { get; }
}
