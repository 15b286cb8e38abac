namespace Sluice.Server.WebDav;

/// <summary>A request body was refused, with the status that says why: 400 for what it says, 413 for its size (DAV-55).</summary>
internal sealed class DavXmlException : Exception
{
    /// <summary>Creates the exception.</summary>
    /// <param name="message">One sentence about the body, without its content.</param>
    /// <param name="status">400 or 413.</param>
    public DavXmlException(string message, int status = StatusCodes.Status400BadRequest)
        : base(message) => Status = status;

    /// <summary>The HTTP status of the answer.</summary>
    public int Status { get; }
}
