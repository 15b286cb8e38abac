namespace Sluice.Usenet.Streams;

/// <summary>Shares the memory for decoded bytes among the streams: each is guaranteed a minimum, the rest is split evenly.</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class ByteBudget(StreamOptions options)
{
    private int _streams;

    /// <summary>Streams admitted now.</summary>
    public int Streams => Volatile.Read(ref _streams);

    /// <summary>Bytes that one stream may hold now.</summary>
    public long Share => Math.Min(options.ReadAhead, Math.Max(options.GuaranteedBytes, options.ByteBudget / Math.Max(1, Streams)));

    /// <summary>Admits one more stream; <see cref="Leave"/> ends it.</summary>
    /// <exception cref="StreamLimitException">There are as many as the budget can guarantee memory to.</exception>
    public void Enter()
    {
        if (Interlocked.Increment(ref _streams) <= options.MaxStreams)
            return;
        Interlocked.Decrement(ref _streams);
        throw new StreamLimitException(options.MaxStreams);
    }

    public void Leave() => Interlocked.Decrement(ref _streams);
}
