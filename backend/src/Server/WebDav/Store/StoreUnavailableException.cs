namespace Sluice.Server.WebDav;

/// <summary>
/// The tree cannot be read at present. The answer is 503 whatever the path, so that no client takes the library for empty (DAV-6).
/// </summary>
internal sealed class StoreUnavailableException : Exception
{
    /// <summary>Creates the exception.</summary>
    /// <param name="message">One sentence for an operator.</param>
    /// <param name="inner">What went wrong.</param>
    public StoreUnavailableException(string message, Exception? inner = null)
        : base(message, inner)
    {
    }
}
