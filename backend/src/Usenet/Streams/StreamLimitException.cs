namespace Sluice.Usenet.Streams;

/// <summary>
/// A read was canceled while it waited for a place: all of them were taken by streams that read. It passes as soon as one of these pauses or ends.
/// </summary>
public sealed class StreamLimitException : OperationCanceledException
{
    /// <summary>Creates the exception.</summary>
    /// <param name="limit">Places that the memory budget has.</param>
    /// <param name="cancellationToken">The token of the read.</param>
    public StreamLimitException(int limit, CancellationToken cancellationToken = default)
        : base($"All {limit} places of the memory budget are taken by streams that read.", cancellationToken) => Limit = limit;

    /// <summary>Places that the memory budget has.</summary>
    public int Limit { get; }
}
