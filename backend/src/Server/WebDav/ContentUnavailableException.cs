namespace Sluice.Server.WebDav;

internal enum ContentFault
{
    /// <summary>The failure may be temporary. Sends 503 if the headers have not been sent yet.</summary>
    Transient,

    /// <summary>The content is missing or corrupt at every provider. Sends 410 if the headers have not been sent yet.</summary>
    Gone,
}

/// <summary>The content of an existing file is unavailable. Never mapped to 404, because the path is valid.</summary>
internal sealed class ContentUnavailableException : IOException
{
    /// <summary>Creates the exception. The client sees <paramref name="reason"/>, so the reason must not contain names or paths.</summary>
    public ContentUnavailableException(ContentFault fault, string reason, Exception? inner = null)
        : base(reason, inner) => Fault = fault;

    public ContentFault Fault { get; }
}
