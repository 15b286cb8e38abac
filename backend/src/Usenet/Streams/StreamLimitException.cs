namespace Sluice.Usenet.Streams;

/// <summary>A read was canceled while active streams held every place. A retry can succeed once one of these streams pauses or closes.</summary>
public sealed class StreamLimitException : OperationCanceledException
{
    public StreamLimitException(int limit, CancellationToken cancellationToken = default)
        : base($"All {limit} places of the memory budget are taken by streams that read.", cancellationToken) => Limit = limit;

    /// <summary>Number of places in the memory budget.</summary>
    public int Limit { get; }
}
