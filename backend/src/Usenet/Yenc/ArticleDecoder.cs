using System.Buffers;

namespace Sluice.Usenet.Yenc;

/// <summary>Decodes one article at a time from the raw bytes of an NNTP body, whatever its encoding.</summary>
/// <remarks>
/// Three stages: preamble, block, rest. Each preamble line is offered to every block decoder until one accepts the line and so determines the encoding. Input
/// may be split anywhere. The article is always read to its terminating line, so that pipelined replies after it stay intact. Reusable after
/// <see cref="Reset"/>; allocates nothing per article; never throws because of its input; not thread-safe. Damaged input is decoded as far as
/// possible and reported in <see cref="DecodedArticle.Defects"/>.
/// </remarks>
public sealed class ArticleDecoder
{
    /// <summary>Maximum bytes of a line outside yEnc data: enough for four fields and the longest file name of any file system.</summary>
    public const int MaxLineLength = 4096;

    /// <summary>Maximum decoded bytes of one article. Servers accept a few MiB at most.</summary>
    public const int MaxDecodedLength = 16 * 1024 * 1024;

    private readonly ArticleLineReader _lines = new();
    private readonly BlockDecoder[] _encodings;
    private Stage _stage;
    private PreambleScan _preamble;
    private int _lineLength;
    private BlockDecoder? _block;

    /// <summary>Creates a decoder that uses this kernel, or by default the fastest one that the CPU supports.</summary>
    public ArticleDecoder(YencKernel? kernel = null)
    {
        var nameBuffer = new byte[MaxLineLength];
        _encodings = [new YencBlock(kernel ?? YencKernel.Best, _lines, nameBuffer), new UuBlock(_lines, nameBuffer)];
        Reset();
    }

    private enum Stage
    {
        Preamble,

        /// <summary>From the line that begins the block to the line that ends it.</summary>
        Block,

        /// <summary>After the block, or once no block can follow.</summary>
        Rest,

        Ended,
    }

    /// <summary>Whether the header is complete; always true once data has been written.</summary>
    public bool HasHeader => _block is { HasHeader: true };

    /// <summary>The header; valid once <see cref="HasHeader"/> is true. Its name is valid until <see cref="Reset"/>.</summary>
    public ArticleHeader Header => _block?.Header ?? default;

    public long Decoded => _block?.Decoded ?? 0;

    /// <summary>Prepares for the next article, and invalidates the header and result of the last one.</summary>
    public void Reset()
    {
        _stage = Stage.Preamble;
        _preamble = default;
        _lineLength = 0;
        _block = null;
        _lines.Start([]);
        foreach (var encoding in _encodings)
            encoding.Reset();
    }

    /// <summary>Decodes the next bytes of the article.</summary>
    /// <param name="raw">Bytes from the wire, with dot-stuffing and the terminating line.</param>
    /// <param name="output">Receives the decoded bytes. Memory is requested only if a data byte has to be written.</param>
    /// <param name="consumed">Number of bytes that belong to this article: all of them, unless the call returns true.</param>
    /// <returns>True once the terminating line has been consumed.</returns>
    /// <exception cref="InvalidOperationException"><paramref name="output"/> returned empty memory.</exception>
    public bool Decode(ReadOnlySpan<byte> raw, IBufferWriter<byte> output, out int consumed)
    {
        ArgumentNullException.ThrowIfNull(output);
        consumed = 0;
        while (_stage != Stage.Ended && consumed < raw.Length)
        {
            var rest = raw[consumed..];
            consumed += _stage switch
            {
                Stage.Preamble => ReadPreamble(rest),
                Stage.Block => ReadBlock(_block!, rest, output),
                _ => ReadRest(rest),
            };
        }

        return _stage == Stage.Ended;
    }

    /// <summary>Returns the facts about the article; call it after <see cref="Decode"/> has returned true, or when no more bytes will arrive.</summary>
    public DecodedArticle GetResult()
    {
        var truncated = _stage == Stage.Ended ? ArticleDefects.None : ArticleDefects.Truncated;
        if (_block is not null)
        {
            var article = _block.Describe();
            return article with { Defects = article.Defects | truncated };
        }

        var isText = _preamble.Encoding == ArticleEncoding.Text && _stage is Stage.Ended or Stage.Rest;
        return new DecodedArticle
        {
            Encoding = _preamble.Encoding,
            Defects = truncated | ArticleDefects.NoHeader | (isText ? ArticleDefects.NotBinary : ArticleDefects.None),
        };
    }

    private int ReadPreamble(ReadOnlySpan<byte> raw)
    {
        var answer = _lines.Read(raw, out var consumed);
        _lineLength += consumed;
        if (answer == ArticleLineReader.Answer.ArticleEnd)
        {
            _stage = Stage.Ended;
        }
        else if (answer == ArticleLineReader.Answer.Line && BeginsBlock())
        {
            _stage = Stage.Block;
        }
        else if (!_preamble.Count(consumed)
            || (answer == ArticleLineReader.Answer.Line && !_preamble.TakeLine(_lines.Line, _lineLength)))
        {
            _stage = Stage.Rest;
        }

        if (answer == ArticleLineReader.Answer.Line)
            _lineLength = 0;
        return consumed;
    }

    private bool BeginsBlock()
    {
        foreach (var encoding in _encodings)
        {
            if (!encoding.TryBegin())
                continue;
            _block = encoding;
            return true;
        }

        return false;
    }

    private int ReadBlock(BlockDecoder block, ReadOnlySpan<byte> raw, IBufferWriter<byte> output)
    {
        var consumed = block.Read(raw, output, out var end);
        _stage = end switch
        {
            BlockEnd.Article => Stage.Ended,
            BlockEnd.Block => Stage.Rest,
            _ => Stage.Block,
        };
        return consumed;
    }

    private int ReadRest(ReadOnlySpan<byte> raw)
    {
        var answer = _lines.Read(raw, out var consumed);
        if (answer == ArticleLineReader.Answer.ArticleEnd)
            _stage = Stage.Ended;
        else if (answer == ArticleLineReader.Answer.Line)
            _block?.TakeLineAfterBlock();
        return consumed;
    }
}
