using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Streams.Loading;

/// <summary>Lends decoders: each has tables and line buffers of some 10 KB, which would be most of what an article costs.</summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> guards the idle decoders; nothing is called under it. Bounded: a decoder that comes back beyond the ceiling goes
/// to the collector.
/// </remarks>
internal sealed class DecoderPool
{
    // As many articles arrive at a time over the connections that an installation has; further decoders are made when they are needed.
    private const int MostIdle = 512;

    private readonly Lock _gate = new();
    private readonly Stack<ArticleDecoder> _idle = new();

    /// <summary>Lends a decoder, which is <see cref="ArticleDecoder.Reset"/> before each article.</summary>
    public ArticleDecoder Rent()
    {
        lock (_gate)
        {
            if (_idle.TryPop(out var idle))
                return idle;
        }

        return new ArticleDecoder();
    }

    /// <summary>Takes a decoder back; the caller does not touch it again.</summary>
    public void Return(ArticleDecoder decoder)
    {
        lock (_gate)
        {
            if (_idle.Count < MostIdle)
                _idle.Push(decoder);
        }
    }
}
