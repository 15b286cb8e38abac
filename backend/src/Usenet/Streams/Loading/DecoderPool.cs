using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Streams.Loading;

/// <summary>Lends decoders, because the tables and line buffers of each, about 10 KB, would otherwise dominate the memory of an article.</summary>
/// <remarks>Thread-safe. <c>_gate</c> guards the idle decoders; nothing is called under it. Surplus decoders are left to the collector.</remarks>
internal sealed class DecoderPool
{
    // About as many articles arrive at a time as an installation has connections; more decoders are created when needed.
    private const int MostIdle = 512;

    private readonly Lock _gate = new();
    private readonly Stack<ArticleDecoder> _idle = new();

    /// <summary>Lends a decoder; the caller calls <see cref="ArticleDecoder.Reset"/> before each article.</summary>
    public ArticleDecoder Rent()
    {
        lock (_gate)
        {
            if (_idle.TryPop(out var idle))
                return idle;
        }

        return new ArticleDecoder();
    }

    /// <summary>Takes a decoder back; the caller must not use it again.</summary>
    public void Return(ArticleDecoder decoder)
    {
        lock (_gate)
        {
            if (_idle.Count < MostIdle)
                _idle.Push(decoder);
        }
    }
}
