using System.Buffers;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>Decodes one article, and runs an action after a number of raw bytes.</summary>
internal sealed class CollectingSink(int actAt = -1, Action? act = null) : IArticleSink
{
    private readonly ArticleDecoder _decoder = new();
    private readonly ArrayBufferWriter<byte> _output = new();
    private long _raw;

    public ReadOnlySpan<byte> Decoded => _output.WrittenSpan;

    public DecodedArticle Result => _decoder.GetResult();

    public void Start(int provider)
    {
        _decoder.Reset();
        _output.ResetWrittenCount();
        _raw = 0;
    }

    public bool Write(ReadOnlySpan<byte> raw, out int consumed)
    {
        var ended = _decoder.Decode(raw, _output, out consumed);
        var before = _raw;
        _raw += consumed;
        if (before <= actAt && _raw > actAt)
            act?.Invoke();
        return ended;
    }
}
