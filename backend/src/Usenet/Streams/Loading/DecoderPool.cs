using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Streams.Loading;

/// <summary>Lends decoders for reuse, because a decoder's tables and line buffers, about 10 KB, would otherwise dominate the memory of an article.</summary>
/// <remarks>Thread-safe. <c>_gate</c> guards the idle decoders; nothing is called while it is held. The garbage collector frees surplus decoders.</remarks>
internal sealed class DecoderPool
{
    // About as many articles arrive at once as an installation has connections. More decoders are created when needed.
    private const int MostIdle = 512;

    private readonly Lock _gate = new();
    private readonly Stack<ArticleDecoder> _idle = new();

    /// <summary>Lends a decoder. The caller must call <see cref="ArticleDecoder.Reset"/> before each article.</summary>
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
