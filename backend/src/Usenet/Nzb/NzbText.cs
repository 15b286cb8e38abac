using System.Buffers;
using System.Text;

namespace Sluice.Usenet.Nzb;

/// <summary>
/// Decodes an XML document and detects its encoding (XML 1.0 appendix F). Replaces undecodable bytes and forbidden characters with U+FFFD, and limits the text
/// between two <c>&lt;</c>.
/// </summary>
/// <remarks>Holds one buffer of bytes and one of characters. Does not dispose the stream.</remarks>
internal sealed class NzbText : TextReader
{
    private const int BufferSize = 32 << 10;
    private const char Replacement = '\uFFFD';

    // Control characters except tab, line feed and carriage return, and the two non-characters (XML 1.0 section 2.2).
    private static readonly SearchValues<char> Forbidden = SearchValues.Create(
        "\0\u0001\u0002\u0003\u0004\u0005\u0006\u0007\b\v\f\u000E\u000F\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017"
        + "\u0018\u0019\u001A\u001B\u001C\u001D\u001E\u001F\uFFFE\uFFFF");

    private readonly Stream _stream;
    private readonly int _maxMarkup;
    private readonly NzbMarkupMeter _meter;
    private readonly CancellationToken _cancellationToken;
    private readonly byte[] _bytes = new byte[BufferSize];
    private readonly char[] _chars = new char[BufferSize];
    private Decoder? _decoder;
    private int _start;
    private int _end;
    private bool _ended;
    private int _charStart;
    private int _charEnd;

    public NzbText(Stream stream, int maxMarkup, CancellationToken cancellationToken)
    {
        _stream = stream;
        _maxMarkup = maxMarkup;
        _meter = new NzbMarkupMeter(maxMarkup);
        _cancellationToken = cancellationToken;
    }

    public override Task<int> ReadAsync(char[] buffer, int index, int count) =>
        ReadAsync(buffer.AsMemory(index, count), _cancellationToken).AsTask();

    public override async ValueTask<int> ReadAsync(Memory<char> buffer, CancellationToken cancellationToken = default)
    {
        if (buffer.IsEmpty)
            return 0;

        while (_charStart == _charEnd)
        {
            if (!await DecodeAsync())
                return 0;
        }

        var count = Math.Min(buffer.Length, _charEnd - _charStart);
        _chars.AsSpan(_charStart, count).CopyTo(buffer.Span);
        _charStart += count;
        return count;
    }

    // Synchronous reads are not supported, because the stream may have to wait for data.
    public override int Read(char[] buffer, int index, int count) => throw new NotSupportedException();

    public override int Read() => throw new NotSupportedException();

    public override int Peek() => throw new NotSupportedException();

    // Decodes the available bytes; an incomplete character yields nothing yet. Returns false at the end of the text.
    private async ValueTask<bool> DecodeAsync()
    {
        if (_ended && _start == _end && _decoder is not null)
            return false;

        _decoder ??= await StartAsync();
        if (_start == _end && !_ended)
        {
            _start = 0;
            _end = await _stream.ReadAsync(_bytes, _cancellationToken);
            _ended = _end == 0;
        }

        _decoder.Convert(_bytes.AsSpan(_start, _end - _start), _chars, _ended, out var used, out _charEnd, out _);
        _charStart = 0;
        _start += used;
        Check(_chars.AsSpan(0, _charEnd));
        return true;
    }

    // Reads enough for a byte order mark and the declaration, no matter in how many chunks they arrive.
    private async ValueTask<Decoder> StartAsync()
    {
        while (_end < 256 && !_ended)
        {
            var read = await _stream.ReadAsync(_bytes.AsMemory(_end), _cancellationToken);
            _end += read;
            _ended = read == 0;
        }

        var (encoding, mark) = NzbEncoding.Recognise(_bytes.AsSpan(0, _end));
        _start = mark;

        // Skip blanks before the declaration, because real documents have them although they are invalid.
        while (mark == 0 && _start < _end && _bytes[_start] is (byte)' ' or (byte)'\t' or (byte)'\r' or (byte)'\n')
            _start++;
        return encoding.GetDecoder();
    }

    private void Check(Span<char> text)
    {
        for (var bad = text.IndexOfAny(Forbidden); bad >= 0; bad = text.IndexOfAny(Forbidden))
            text[bad] = Replacement;

        if (!_meter.Take(text))
            throw new NzbFormatException(NzbFault.TooLarge, $"a tag or text of more than {_maxMarkup} characters");
    }
}

/// <summary>Detects the encoding of an XML document by byte order mark or declaration (XML 1.0 appendix F).</summary>
internal static class NzbEncoding
{
    /// <summary>Returns the encoding and the length of the byte order mark. Unknown names count as UTF-8.</summary>
    public static (Encoding Encoding, int Mark) Recognise(ReadOnlySpan<byte> start)
    {
        if (start.StartsWith((ReadOnlySpan<byte>)[0xEF, 0xBB, 0xBF]))
            return (Encoding.UTF8, 3);
        if (start.StartsWith((ReadOnlySpan<byte>)[0xFF, 0xFE]))
            return (Encoding.Unicode, 2);
        if (start.StartsWith((ReadOnlySpan<byte>)[0xFE, 0xFF]))
            return (Encoding.BigEndianUnicode, 2);
        if (start.StartsWith((ReadOnlySpan<byte>)[(byte)'<', 0]))
            return (Encoding.Unicode, 0);
        if (start.StartsWith((ReadOnlySpan<byte>)[0, (byte)'<']))
            return (Encoding.BigEndianUnicode, 0);

        return (IsLatin(DeclaredName(start)) ? Encoding.Latin1 : Encoding.UTF8, 0);
    }

    // Read as Latin-1, because Western European one-byte encodings differ in few characters. A false declaration of UTF-16 is read as UTF-8.
    private static bool IsLatin(string name) => name.ToUpperInvariant() is
        "ISO-8859-1" or "ISO8859-1" or "ISO_8859-1" or "LATIN1" or "LATIN-1" or "L1" or "ISO-8859-15" or "WINDOWS-1252" or "CP1252";

    private static string DeclaredName(ReadOnlySpan<byte> start)
    {
        var close = start.IndexOf("?>"u8);
        if (!start.StartsWith("<?xml"u8) || close < 0)
            return "";

        var declaration = start[..close];
        var name = declaration.IndexOf("encoding"u8);
        if (name < 0)
            return "";

        declaration = declaration[(name + "encoding"u8.Length)..].TrimStart(" \t\r\n="u8);
        if (declaration.IsEmpty || declaration[0] is not ((byte)'"' or (byte)'\''))
            return "";

        var end = declaration[1..].IndexOf(declaration[0]);
        return end < 0 ? "" : Encoding.Latin1.GetString(declaration.Slice(1, end));
    }
}
