using System.Buffers;

namespace Sluice.Usenet.Yenc;

/// <summary>Decodes a block of yEnc (draft 1.3): <c>=ybegin</c>, <c>=ypart</c>, data, <c>=yend</c>.</summary>
internal sealed class YencBlock : BlockDecoder
{
    // Bytes decoded per checksum step, few enough to stay in a fast cache.
    private const int ChecksumStep = 64 * 1024;

    private readonly YencKernel _kernel;
    private readonly byte[] _discard = new byte[ArticleDecoder.MaxLineLength];
    private YencState _state;
    private bool _isInKeyword;

    public YencBlock(YencKernel kernel, ArticleLineReader lines, byte[] nameBuffer)
        : base(ArticleEncoding.Yenc, lines, nameBuffer) => _kernel = kernel;

    public override void Reset()
    {
        base.Reset();
        _state = default;
        _isInKeyword = false;
    }

    public override bool TryBegin()
    {
        if (!YencLineParser.TryParseBegin(Lines.Line, out var header, out var name, out var defects))
            return false;
        Header = header with { NameBytes = Keep(name) };
        Defects |= defects;
        EndKeywordLine();
        return true;
    }

    public override int Read(ReadOnlySpan<byte> raw, IBufferWriter<byte> output, out BlockEnd end)
    {
        if (_isInKeyword)
            return ReadKeyword(raw, out end);

        // An empty destination makes the kernel stop at the first data byte, so that memory is requested for data and never for line ends alone. Everything
        // before that byte is the header.
        var stop = _kernel.Decode(raw, [], ref _state, out var consumed, out _);
        if (stop == YencStop.DestinationFull)
        {
            HasHeader = true;
            stop = ReadData(raw[consumed..], output, out var more);
            consumed += more;
        }

        end = Follow(stop);
        return consumed;
    }

    public override void TakeLineAfterBlock()
    {
        if (YencLineParser.IsKeyword(Lines.Line, "=ybegin"u8))
            Defects |= ArticleDefects.SecondHeader;
    }

    public override DecodedArticle Describe()
    {
        var expectedCrc = Trailer?.PartCrc ?? (Header.IsWholeFile ? Trailer?.FileCrc : null);
        return base.Describe() with { ExpectedCrc = expectedCrc, Defects = Defects | Contradictions(expectedCrc) };
    }

    private ArticleDefects Contradictions(uint? expectedCrc)
    {
        var defects = ArticleDefects.None;
        if (Trailer is null)
            defects |= ArticleDefects.Truncated;
        if (Header.HasPartField && !Header.HasPartLine)
            defects |= ArticleDefects.NoPartLine;

        var length = Header.PartLength ?? Trailer?.Size;
        if ((length is not null && length != Decoded) || (Trailer?.Size is not null && Trailer.Value.Size != length))
            defects |= ArticleDefects.SizeMismatch;
        if (expectedCrc is not null && expectedCrc != Checksum)
            defects |= ArticleDefects.CrcMismatch;
        if (expectedCrc is null && Trailer is { } trailer && (trailer.IsPartCrcUnreadable || (Header.IsWholeFile && trailer.IsFileCrcUnreadable)))
            defects |= ArticleDefects.UnreadableCrc;
        return defects;
    }

    private YencStop ReadData(ReadOnlySpan<byte> raw, IBufferWriter<byte> output, out int consumed)
    {
        var room = Room(output, ChecksumStep);
        var stop = _kernel.Decode(raw, room.IsEmpty ? _discard : room, ref _state, out consumed, out var written);
        if (!room.IsEmpty && written != 0)
            Commit(room[..written], output);
        return stop;
    }

    private BlockEnd Follow(YencStop stop)
    {
        if (stop == YencStop.Keyword)
        {
            Lines.Start("=y"u8);
            _isInKeyword = true;
        }
        else if (stop == YencStop.ArticleEnd)
        {
            HasHeader = true;
            return BlockEnd.Article;
        }

        return BlockEnd.None;
    }

    private int ReadKeyword(ReadOnlySpan<byte> raw, out BlockEnd end)
    {
        end = BlockEnd.None;

        // The terminating line of the article cannot arrive before the keyword line ends.
        if (Lines.Read(raw, out var consumed) != ArticleLineReader.Answer.Line)
            return consumed;

        EndKeywordLine();
        _isInKeyword = false;
        var line = Lines.Line;
        if (YencLineParser.IsKeyword(line, "=yend"u8))
        {
            HasHeader = true;
            Trailer = YencLineParser.ParseEnd(line);
            end = BlockEnd.Block;
        }
        else if (YencLineParser.IsKeyword(line, "=ybegin"u8))
        {
            HasHeader = true;
            Defects |= ArticleDefects.SecondHeader;
            end = BlockEnd.Block;
        }
        else if (!HasHeader && YencLineParser.IsKeyword(line, "=ypart"u8))
        {
            TakePartLine(line);
        }

        return consumed;
    }

    private void TakePartLine(ReadOnlySpan<byte> line)
    {
        var (header, defects) = (Header, Defects);
        if (!YencLineParser.TryParsePart(line, ref header, ref defects))
        {
            header = header with { HasPartLine = true, Begin = null, End = null };
            defects |= ArticleDefects.BadRange;
        }

        (Header, Defects, HasHeader) = (header, defects, true);
    }

    /// <summary>Records how a keyword line ended, and sets the kernel's state after it.</summary>
    private void EndKeywordLine()
    {
        if (Lines.IsTooLong)
            Defects |= ArticleDefects.LineTooLong;
        if (Lines.EndsInBareLineFeed)
            Defects |= ArticleDefects.BareLineFeeds;

        _state = default;
        _state.BareLineFeeds = (Defects & ArticleDefects.BareLineFeeds) != 0;
        _state.Context = Lines.EndsInBareLineFeed ? YencContext.LineFeed : YencContext.LineStart;
    }
}
