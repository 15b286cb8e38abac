using System.Buffers;

namespace Sluice.Usenet.Yenc;

/// <summary>
/// Decodes a block of uuencode (POSIX.1, historical algorithm): <c>begin &lt;mode&gt; &lt;name&gt;</c>, data lines, an empty data line,
/// <c>end</c>. A data line starts with its byte count. Each three bytes follow as four characters of six bits. The characters run from space to underscore;
/// a grave accent replaces a space.
/// </summary>
/// <remarks>
/// A file may span several articles. Only the first has the begin line and only the last has the end lines, so a block may begin with data: a full
/// line, or a shorter one followed by the end. Articles have neither part number nor checksum, so only a line of the wrong length shows damage.
/// </remarks>
internal sealed class UuBlock(ArticleLineReader lines, byte[] nameBuffer) : BlockDecoder(ArticleEncoding.Uuencode, lines, nameBuffer)
{
    // A line's byte count is one six-bit character; posters write 45.
    private const int MaxBytes = 63;
    private const int MaxCharacters = 4 * ((MaxBytes + 2) / 3);
    private const int FullLine = 'M';

    // A data line from the preamble: the first line of a block, or a line that only the next line can confirm as data.
    private readonly byte[] _held = new byte[MaxCharacters + 2];
    private int _heldLength;
    private bool _sawText;
    private bool _sawNoBytes;
    private bool _isInterrupted;

    public override void Reset()
    {
        base.Reset();
        _heldLength = 0;
        _sawText = _sawNoBytes = _isInterrupted = false;
    }

    public override bool TryBegin()
    {
        var line = Lines.Line;
        if (TryParseBegin(line, out var name))
        {
            Header = new ArticleHeader { NameBytes = Keep(name) };
            _heldLength = 0;
            HasHeader = true;
        }
        else if (BytesOf(line) > 0)
        {
            line.CopyTo(_held);
            (_heldLength, _sawNoBytes) = (line.Length, false);
            HasHeader = line[0] == FullLine;
        }
        else if (IsNoBytes(line))
        {
            _sawNoBytes = true;
            HasHeader = _heldLength > 0;
        }
        else if (IsEnd(line))
        {
            HasHeader = _heldLength > 0 || _sawNoBytes || !_sawText;
            Trailer = HasHeader ? new ArticleTrailer() : null;
        }
        else if (!IsBlank(line))
        {
            (_heldLength, _sawText, _sawNoBytes) = (0, true, false);
        }

        if (HasHeader)
            NoteLine();
        return HasHeader;
    }

    public override int Read(ReadOnlySpan<byte> raw, IBufferWriter<byte> output, out BlockEnd end)
    {
        if (_heldLength > 0)
        {
            Write(_held.AsSpan(0, _heldLength), BytesOf(_held.AsSpan(0, _heldLength)), output);
            _heldLength = 0;
        }

        var consumed = 0;
        end = Trailer is null ? BlockEnd.None : BlockEnd.Block;
        while (end == BlockEnd.None && consumed < raw.Length)
        {
            var answer = Lines.Read(raw[consumed..], out var more);
            consumed += more;
            if (answer == ArticleLineReader.Answer.ArticleEnd)
                end = BlockEnd.Article;
            else if (answer == ArticleLineReader.Answer.Line && IsLast(Lines.Line, output))
                end = BlockEnd.Block;
        }

        return consumed;
    }

    public override void TakeLineAfterBlock()
    {
        if (TryParseBegin(Lines.Line, out _))
            Defects |= ArticleDefects.SecondHeader;
    }

    private bool IsLast(ReadOnlySpan<byte> line, IBufferWriter<byte> output)
    {
        NoteLine();
        var bytes = BytesOf(line);
        if (bytes == 0 && !IsEnd(line))
            return IsSecondBegin(line);

        // If data continues after a text line, that line was a damaged data line. Data after the empty data line is damage too.
        if (_isInterrupted || (_sawNoBytes && bytes > 0))
            Defects |= ArticleDefects.DamagedLine;
        if (bytes > 0)
            Write(line, bytes, output);
        else
            Trailer = new ArticleTrailer();
        return bytes == 0;
    }

    private bool IsSecondBegin(ReadOnlySpan<byte> line)
    {
        if (TryParseBegin(line, out _))
        {
            Defects |= ArticleDefects.SecondHeader;
            return true;
        }

        _sawNoBytes |= IsNoBytes(line);

        // Programs that split files write a line of text after each article's data.
        if (line.Length > 1 && line[0] == FullLine && !line.ContainsAnyExceptInRange((byte)' ', (byte)'`'))
            Defects |= ArticleDefects.DamagedLine;
        else if (!IsNoBytes(line) && !IsBlank(line))
            _isInterrupted = true;
        return false;
    }

    private void NoteLine()
    {
        if (Lines.IsTooLong)
            Defects |= ArticleDefects.LineTooLong;
        if (Lines.EndsInBareLineFeed)
            Defects |= ArticleDefects.BareLineFeeds;
    }

    private void Write(ReadOnlySpan<byte> line, int bytes, IBufferWriter<byte> output)
    {
        Span<byte> decoded = stackalloc byte[MaxCharacters / 4 * 3];
        var characters = line[1..];
        for (int from = 0, to = 0; from < characters.Length && to < decoded.Length; from += 4, to += 3)
        {
            var bits = Bits(characters, from) << 18 | Bits(characters, from + 1) << 12 | Bits(characters, from + 2) << 6 | Bits(characters, from + 3);
            decoded[to] = (byte)(bits >> 16);
            decoded[to + 1] = (byte)(bits >> 8);
            decoded[to + 2] = (byte)bits;
        }

        for (var rest = decoded[..bytes]; !rest.IsEmpty;)
        {
            var room = Room(output, rest.Length);
            if (room.IsEmpty)
                return;
            rest[..room.Length].CopyTo(room);
            Commit(room, output);
            rest = rest[room.Length..];
        }
    }

    // Some programs omit the characters after the last byte.
    private static int Bits(ReadOnlySpan<byte> characters, int index) => index < characters.Length ? (characters[index] - ' ') & 0x3F : 0;

    /// <summary>Returns the byte count of a data line; 0 if the line holds no data or has the wrong length.</summary>
    /// <remarks>Some programs append one character, a checksum or an end mark.</remarks>
    private static int BytesOf(ReadOnlySpan<byte> line)
    {
        if (line.IsEmpty || line.Length > MaxCharacters + 2 || line.ContainsAnyExceptInRange((byte)' ', (byte)'`'))
            return 0;
        var bytes = (line[0] - ' ') & 0x3F;
        return line.Length - 1 >= (4 * bytes + 2) / 3 && line.Length - 1 <= 4 * ((bytes + 2) / 3) + 1 ? bytes : 0;
    }

    private static bool TryParseBegin(ReadOnlySpan<byte> line, out ReadOnlySpan<byte> name)
    {
        name = default;
        if (!line.StartsWith("begin "u8))
            return false;
        var rest = line["begin "u8.Length..].TrimStart((byte)' ');
        var mode = rest.IndexOfAnyExceptInRange((byte)'0', (byte)'7');
        if (mode is < 3 or > 4 || rest[mode] != ' ')
            return false;
        name = rest[mode..].Trim(YencLineParser.Blanks);
        return !name.IsEmpty;
    }

    private static bool IsNoBytes(ReadOnlySpan<byte> line) => line.Length is 1 or 2 && line[0] == '`';

    private static bool IsEnd(ReadOnlySpan<byte> line) => line.TrimEnd(YencLineParser.Blanks).SequenceEqual("end"u8);

    private static bool IsBlank(ReadOnlySpan<byte> line) => line.Trim(YencLineParser.Blanks).IsEmpty;
}
