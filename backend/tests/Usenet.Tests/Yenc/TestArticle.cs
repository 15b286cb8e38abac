using System.Globalization;
using System.Text;

namespace Sluice.Usenet.Tests.Yenc;

/// <summary>Writes articles as posters do, with every field open to false values.</summary>
internal static class TestArticle
{
    /// <summary>Returns the bytes of a text; one character is one byte.</summary>
    public static byte[] Bytes(string latin1) => Encoding.Latin1.GetBytes(latin1);

    /// <summary>Returns noise, equal for equal seeds.</summary>
    public static byte[] Noise(int length, int seed = 1)
    {
        var bytes = new byte[length];
        new Random(seed).NextBytes(bytes);
        return bytes;
    }

    /// <summary>Returns the lines of a block: critical bytes of yEnc escaped, CRLF after each line.</summary>
    public static string Encode(ReadOnlySpan<byte> bytes, int line = 128, bool everythingEscaped = false)
    {
        var text = new StringBuilder();
        var column = 0;
        foreach (var b in bytes)
        {
            var c = (byte)(b + 42);
            if (everythingEscaped || c is 0 or (byte)'\r' or (byte)'\n' or (byte)'=')
            {
                text.Append('=').Append((char)(byte)(c + 64));
                column += 2;
            }
            else
            {
                text.Append((char)c);
                column++;
            }

            if (column >= line)
            {
                text.Append("\r\n");
                column = 0;
            }
        }

        return column == 0 ? text.ToString() : text.Append("\r\n").ToString();
    }

    /// <summary>Returns lines of uuencode, with CRLF after each line.</summary>
    /// <param name="bytes">The content.</param>
    /// <param name="zero">The character for six zero bits.</param>
    public static string UuLines(ReadOnlySpan<byte> bytes, char zero = '`')
    {
        var text = new StringBuilder();
        foreach (var line in bytes.ToArray().Chunk(45))
        {
            text.Append(Character(line.Length));
            foreach (var group in line.Chunk(3))
            {
                var bits = (group[0] << 16) | ((group.Length > 1 ? group[1] : 0) << 8) | (group.Length > 2 ? group[2] : 0);
                foreach (var shift in new[] { 18, 12, 6, 0 })
                    text.Append(Character((bits >> shift) & 63));
            }

            text.Append("\r\n");
        }

        return text.ToString();

        char Character(int value) => value == 0 ? zero : (char)(' ' + value);
    }

    /// <summary>Returns an article of a uuencoded file.</summary>
    /// <param name="bytes">The content.</param>
    /// <param name="isFirst">Whether it contains the file name.</param>
    /// <param name="isLast">Whether it ends the file.</param>
    public static string UuPart(ReadOnlySpan<byte> bytes, bool isFirst, bool isLast) =>
        (isFirst ? "begin 644 film.mkv\r\n" : "") + UuLines(bytes) + (isLast ? "`\r\nend\r\n" : "");

    /// <summary>Returns a body as sent over the wire: leading dots doubled, terminating line added.</summary>
    public static byte[] OnWire(string body)
    {
        var stuffed = body.Replace("\r\n.", "\r\n..", StringComparison.Ordinal);
        return Bytes((stuffed.StartsWith('.') ? "." : "") + stuffed + ".\r\n");
    }

    /// <summary>Returns one intact part of a posted file.</summary>
    public static string Part(byte[] data, long begin = 0, long? fileSize = null, int part = 1, int total = 1, int line = 128)
    {
        var size = fileSize ?? data.Length;
        return string.Create(
            CultureInfo.InvariantCulture,
            $"=ybegin part={part} total={total} line={line} size={size} name=film.mkv\r\n=ypart begin={begin + 1} end={begin + data.Length}\r\n"
            + $"{Encode(data, line)}=yend size={data.Length} part={part} pcrc32={YencReference.Crc(data):x8}\r\n");
    }
}
