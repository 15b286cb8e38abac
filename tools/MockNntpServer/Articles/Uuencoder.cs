using System.Text;

namespace Sluice.Tools.MockNntpServer.Articles;

/// <summary>Encodes bytes as old posters did (POSIX.1 uuencode, historical algorithm). Pure.</summary>
internal static class Uuencoder
{
    private const int BytesPerLine = 45;

    /// <summary>Lines after the data of a file: an empty line and the keyword.</summary>
    public static ReadOnlySpan<byte> End => "`\r\nend\r\n"u8;

    /// <summary>Returns the body of an article without dot-stuffing.</summary>
    /// <param name="name">File name for the first article; null for later articles, because only the first has a header.</param>
    /// <param name="ends">Whether this is the last article of its file.</param>
    public static byte[] Encode(ReadOnlySpan<byte> bytes, string? name, bool ends)
    {
        var text = new StringBuilder(name is null ? "" : $"begin 644 {name}\r\n");
        for (; !bytes.IsEmpty; bytes = bytes[Math.Min(BytesPerLine, bytes.Length)..])
        {
            var line = bytes[..Math.Min(BytesPerLine, bytes.Length)];
            text.Append(Character(line.Length));
            for (var i = 0; i < line.Length; i += 3)
            {
                var group = (line[i] << 16) | (At(line, i + 1) << 8) | At(line, i + 2);
                text.Append(Character(group >> 18)).Append(Character(group >> 12)).Append(Character(group >> 6)).Append(Character(group));
            }

            text.Append("\r\n");
        }

        return [.. Encoding.Latin1.GetBytes(text.ToString()), .. ends ? End : []];
    }

    private static int At(ReadOnlySpan<byte> line, int index) => index < line.Length ? line[index] : 0;

    private static char Character(int value) => (value & 63) == 0 ? '`' : (char)((value & 63) + ' ');
}
