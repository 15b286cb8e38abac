namespace Sluice.Usenet.Streams;

/// <summary>More streams were opened than the byte budget can guarantee memory to. It passes as soon as one of them ends.</summary>
public sealed class StreamLimitException : IOException
{
    /// <summary>Creates the exception.</summary>
    /// <param name="limit">Streams that the budget admits.</param>
    public StreamLimitException(int limit)
        : base($"All {limit} streams that the memory budget admits are in use.") => Limit = limit;

    /// <summary>Streams that the budget admits.</summary>
    public int Limit { get; }
}
