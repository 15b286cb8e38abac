using System.Buffers;

namespace Sluice.Usenet.Yenc;

/// <summary>Decodes one article at a time from the raw bytes of an NNTP body.</summary>
/// <remarks>
/// Preamble → header → data → trailer → rest. Input may be cut anywhere. The article is always read to its terminating
/// line, so that answers pipelined behind it stay untouched. Reusable by <see cref="Reset"/>, allocates nothing per
/// article, throws nothing because of its input; not thread-safe. Lines are those of the yEnc draft 1.3; what deviates
/// is decoded as far as it goes and reported in <see cref="YencResult.Defects"/>.
/// </remarks>
public sealed class YencDecoder
{
    /// <summary>Longest keyword line in bytes: room for four fields and a name of any file system.</summary>
    public const int MaxLineLength = 4096;

    /// <summary>Most decoded bytes of one article: servers take articles of a few MiB at most.</summary>
    public const int MaxDecodedLength = 16 * 1024 * 1024;

    // Bytes decoded between two steps of the checksum: they are still in the nearest cache then.
    private const int Step = 64 * 1024;

    private readonly YencKernel _kernel;
    private readonly ArticleLineReader _lines = new();
    private readonly byte[] _name = new byte[MaxLineLength];
    private readonly byte[] _discard = new byte[MaxLineLength];
    private YencStage _stage;
    private YencState _state;
    private PreambleScan _preamble;
    private int _lineLength;
    private bool _hasBegin;
    private YencHeader _header;
    private YencTrailer? _trailer;
    private uint _crc;
    private YencDefects _defects;

    /// <summary>Makes a decoder.</summary>
    /// <param name="kernel">Does the work on data; null for the fastest one of this CPU.</param>
    public YencDecoder(YencKernel? kernel = null)
    {
        _kernel = kernel ?? YencKernel.Best;
        Reset();
    }

    /// <summary>True from the moment when the header is complete, which is before any data is written.</summary>
    public bool HasHeader { get; private set; }

    /// <summary>The header; meaningful once <see cref="HasHeader"/> is true. Its name is valid until <see cref="Reset"/>.</summary>
    public ref readonly YencHeader Header => ref _header;

    /// <summary>Decoded bytes written so far.</summary>
    public long Decoded { get; private set; }

    /// <summary>Makes the decoder ready for the next article; header and result of the last one become invalid.</summary>
    public void Reset()
    {
        _stage = YencStage.Preamble;
        _state = default;
        _preamble = default;
        _lineLength = 0;
        _hasBegin = false;
        _header = default;
        _trailer = null;
        _crc = 0;
        _defects = YencDefects.None;
        _lines.Start([]);
        HasHeader = false;
        Decoded = 0;
    }

    /// <summary>Takes the next bytes of the article.</summary>
    /// <param name="raw">As they came off the wire, dots still doubled, terminating line included.</param>
    /// <param name="output">Takes the decoded bytes. Asked for memory only when a byte of data is there to be written.</param>
    /// <param name="consumed">
    /// How many bytes belong to this article: all of them unless the call returns true.
    /// </param>
    /// <returns>True once the terminating line has been consumed.</returns>
    /// <exception cref="InvalidOperationException"><paramref name="output"/> hands out empty memory.</exception>
    public bool Decode(ReadOnlySpan<byte> raw, IBufferWriter<byte> output, out int consumed)
    {
        ArgumentNullException.ThrowIfNull(output);
        consumed = 0;
        while (_stage != YencStage.Ended && consumed < raw.Length)
        {
            var rest = raw[consumed..];
            consumed += _stage switch
            {
                YencStage.Preamble => ReadPreamble(rest),
                YencStage.Header => ReadHeader(rest),
                YencStage.Data => ReadData(rest, output),
                YencStage.Keyword => ReadKeyword(rest),
                _ => ReadRest(rest),
            };
        }

        return _stage == YencStage.Ended;
    }

    /// <summary>The facts about the article: after <see cref="Decode"/> has returned true, or when no more bytes will come.</summary>
    public YencResult GetResult()
    {
        var defects = _defects;
        if (_stage != YencStage.Ended)
            defects |= YencDefects.Truncated;

        var expectedCrc = _trailer?.PartCrc ?? (_header.IsWholeFile ? _trailer?.FileCrc : null);
        if (!_hasBegin)
        {
            defects |= YencDefects.NoHeader;
            if (_preamble.Encoding == ArticleEncoding.Text && _stage is YencStage.Ended or YencStage.Rest)
                defects |= YencDefects.NotBinary;
        }
        else
        {
            if (_trailer is null)
                defects |= YencDefects.Truncated;
            if (_header.HasPartField && !_header.HasPartLine)
                defects |= YencDefects.NoPartLine;

            var length = _header.PartLength ?? _trailer?.Size;
            if ((length is not null && length != Decoded) || (_trailer?.Size is not null && _trailer.Value.Size != length))
                defects |= YencDefects.SizeMismatch;
            if (expectedCrc is not null && expectedCrc != _crc)
                defects |= YencDefects.CrcMismatch;
            if (expectedCrc is null && _trailer is { } trailer && (trailer.IsPartCrcUnreadable || (_header.IsWholeFile && trailer.IsFileCrcUnreadable)))
                defects |= YencDefects.UnreadableCrc;
        }

        return new YencResult
        {
            Encoding = _hasBegin ? ArticleEncoding.Yenc : _preamble.Encoding,
            Header = _header,
            Trailer = _trailer,
            DecodedLength = Decoded,
            ComputedCrc = _crc,
            ExpectedCrc = expectedCrc,
            Defects = defects,
        };
    }

    private int ReadPreamble(ReadOnlySpan<byte> raw)
    {
        var answer = _lines.Read(raw, out var consumed);
        _lineLength += consumed;
        if (answer == ArticleLineReader.Answer.ArticleEnd)
        {
            _stage = YencStage.Ended;
        }
        else if (answer == ArticleLineReader.Answer.Line
            && YencLineParser.TryParseBegin(_lines.Line, out _header, out var name, out var defects))
        {
            name.CopyTo(_name);
            _header = _header with { NameBytes = _name.AsMemory(0, name.Length) };
            _hasBegin = true;
            _defects |= defects;
            EndKeywordLine();
            _stage = YencStage.Header;
        }
        else if (!_preamble.Count(consumed)
            || (answer == ArticleLineReader.Answer.Line && !_preamble.TakeLine(_lines.Line, _lineLength)))
        {
            _stage = YencStage.Rest;
        }

        if (answer == ArticleLineReader.Answer.Line)
            _lineLength = 0;
        return consumed;
    }

    /// <summary>Offers the kernel no room: it stops at the first byte of data, and whatever comes before is not data.</summary>
    private int ReadHeader(ReadOnlySpan<byte> raw)
    {
        var stop = _kernel.Decode(raw, [], ref _state, out var consumed, out _);
        if (stop == YencStop.DestinationFull)
        {
            HasHeader = true;
            _stage = YencStage.Data;
        }
        else
        {
            Follow(stop);
        }

        return consumed;
    }

    private int ReadData(ReadOnlySpan<byte> raw, IBufferWriter<byte> output)
    {
        // Memory is asked for when a byte is there that needs it: line ends alone never take a block.
        var stop = _kernel.Decode(raw, [], ref _state, out var consumed, out _);
        if (stop == YencStop.DestinationFull)
        {
            var room = (int)Math.Min(Step, MaxDecodedLength - Decoded);
            var destination = room == 0 ? _discard : output.GetSpan(1);
            if (destination.IsEmpty)
                throw new InvalidOperationException("The buffer writer handed out no memory.");
            if (room != 0 && destination.Length > room)
                destination = destination[..room];

            stop = _kernel.Decode(raw[consumed..], destination, ref _state, out var more, out var written);
            consumed += more;
            if (room == 0)
                _defects |= YencDefects.TooLong;
            else if (written != 0)
                Commit(destination[..written], output);
        }

        if (stop != YencStop.DestinationFull)
            Follow(stop);
        return consumed;
    }

    private void Commit(ReadOnlySpan<byte> decoded, IBufferWriter<byte> output)
    {
        _crc = Crc32Kernel.Append(_crc, decoded);
        Decoded += decoded.Length;
        output.Advance(decoded.Length);
    }

    private void Follow(YencStop stop)
    {
        if (stop == YencStop.Keyword)
        {
            _lines.Start("=y"u8);
            _stage = YencStage.Keyword;
        }
        else if (stop == YencStop.ArticleEnd)
        {
            HasHeader = true;
            _stage = YencStage.Ended;
        }
    }

    private int ReadKeyword(ReadOnlySpan<byte> raw)
    {
        // The terminating line cannot come before the end of this line.
        if (_lines.Read(raw, out var consumed) != ArticleLineReader.Answer.Line)
            return consumed;

        EndKeywordLine();
        var line = _lines.Line;
        if (YencLineParser.IsKeyword(line, "=yend"u8))
        {
            HasHeader = true;
            _trailer = YencLineParser.ParseEnd(line);
            _stage = YencStage.Rest;
        }
        else if (YencLineParser.IsKeyword(line, "=ybegin"u8))
        {
            HasHeader = true;
            _defects |= YencDefects.SecondHeader;
            _stage = YencStage.Rest;
        }
        else if (!HasHeader && YencLineParser.IsKeyword(line, "=ypart"u8))
        {
            if (!YencLineParser.TryParsePart(line, ref _header, ref _defects))
            {
                _header = _header with { HasPartLine = true, Begin = null, End = null };
                _defects |= YencDefects.BadRange;
            }

            HasHeader = true;
            _stage = YencStage.Data;
        }
        else
        {
            _stage = HasHeader ? YencStage.Data : YencStage.Header;
        }

        return consumed;
    }

    /// <summary>Notes how a keyword line ended, and puts the kernel after it.</summary>
    private void EndKeywordLine()
    {
        if (_lines.IsTooLong)
            _defects |= YencDefects.LineTooLong;
        if (_lines.EndsInBareLineFeed)
            _defects |= YencDefects.BareLineFeeds;

        _state = default;
        _state.BareLineFeeds = (_defects & YencDefects.BareLineFeeds) != 0;
        _state.Context = _lines.EndsInBareLineFeed ? YencContext.LineFeed : YencContext.LineStart;
    }

    private int ReadRest(ReadOnlySpan<byte> raw)
    {
        var answer = _lines.Read(raw, out var consumed);
        if (answer == ArticleLineReader.Answer.ArticleEnd)
            _stage = YencStage.Ended;
        else if (answer == ArticleLineReader.Answer.Line && _hasBegin && YencLineParser.IsKeyword(_lines.Line, "=ybegin"u8))
            _defects |= YencDefects.SecondHeader;
        return consumed;
    }
}
