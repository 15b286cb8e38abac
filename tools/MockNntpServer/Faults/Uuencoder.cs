using System.Text;

namespace Sluice.Tools.MockNntpServer.Faults;

/// <summary>The same bytes as an old poster sent them. Pure.</summary>
internal static class Uuencoder
{
    private const int BytesPerLine = 45;

    /// <summary>The body as uuencode, carried in the data lines.</summary>
    public static YencBody Encode(YencBody body)
    {
        var bytes = Decode(body.Lines.Span);
        var name = body.Begin[(body.Begin.IndexOf(" name=", StringComparison.Ordinal) + 6)..];
        var text = new StringBuilder().Append("begin 644 ").Append(name).Append("\r\n");
        foreach (var line in bytes.Chunk(BytesPerLine))
        {
            text.Append(Character(line.Length));
            for (var i = 0; i < line.Length; i += 3)
            {
                var group = (line[i] << 16) | (At(line, i + 1) << 8) | At(line, i + 2);
                text.Append(Character(group >> 18)).Append(Character(group >> 12)).Append(Character(group >> 6)).Append(Character(group));
            }

            text.Append("\r\n");
        }

        text.Append("`\r\nend\r\n");
        return new YencBody("", "", Encoding.Latin1.GetBytes(text.ToString()), "");
    }

    private static byte[] Decode(ReadOnlySpan<byte> lines)
    {
        var bytes = new List<byte>(lines.Length);
        for (var i = 0; i < lines.Length; i++)
        {
            if (lines[i] is (byte)'\r' or (byte)'\n')
                continue;
            bytes.Add(unchecked(lines[i] == (byte)'=' ? (byte)(lines[++i] - 64 - 42) : (byte)(lines[i] - 42)));
        }

        return [.. bytes];
    }

    private static int At(byte[] line, int index) => index < line.Length ? line[index] : 0;

    private static char Character(int value) => (value & 63) == 0 ? '`' : (char)((value & 63) + ' ');
}
