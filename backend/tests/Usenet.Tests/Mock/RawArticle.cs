using System.Globalization;
using System.Text;
using Xunit;

namespace Sluice.Usenet.Tests.Mock;

/// <summary>A yEnc body, decoded in the plainest way without code of mock or engine, because it is the reference for both.</summary>
internal sealed record RawArticle(IReadOnlyList<string> Keywords, IReadOnlyList<byte[]> Lines, byte[] Decoded)
{
    public static RawArticle Parse(byte[] body)
    {
        var keywords = new List<string>();
        var lines = new List<byte[]>();
        var decoded = new List<byte>();
        foreach (var line in SplitLines(body))
        {
            if (line.AsSpan().StartsWith("=y"u8))
            {
                keywords.Add(Encoding.Latin1.GetString(line));
                continue;
            }

            lines.Add(line);
            for (var i = 0; i < line.Length; i++)
                decoded.Add(line[i] == '=' ? unchecked((byte)(line[++i] - 106)) : unchecked((byte)(line[i] - 42)));
        }

        return new RawArticle(keywords, lines, [.. decoded]);
    }

    /// <summary>Returns the value of a field from its keyword line.</summary>
    public string? Field(string keyword, string field)
    {
        var line = Keywords.FirstOrDefault(line => line.StartsWith(keyword + " ", StringComparison.Ordinal));
        var at = line?.IndexOf($" {field}=", StringComparison.Ordinal) ?? -1;
        return at < 0 ? null : field == "name" ? line![(at + 6)..] : line![(at + field.Length + 2)..].Split(' ')[0];
    }

    public long Number(string keyword, string field) => long.Parse(Field(keyword, field)!, CultureInfo.InvariantCulture);

    public uint Crc(string field) => uint.Parse(Field("=yend", field)!, NumberStyles.HexNumber, CultureInfo.InvariantCulture);

    public static byte[] Unstuff(byte[] block)
    {
        var body = new List<byte>();
        foreach (var line in SplitLines(block[..^3]))
        {
            body.AddRange(line.Length > 0 && line[0] == '.' ? line[1..] : line);
            body.AddRange("\r\n"u8);
        }

        return [.. body];
    }

    private static IEnumerable<byte[]> SplitLines(byte[] body)
    {
        for (var start = 0; start < body.Length;)
        {
            var end = body.AsSpan(start).IndexOf("\r\n"u8);
            Assert.True(end >= 0, "A line has no CRLF.");
            yield return body[start..(start + end)];
            start += end + 2;
        }
    }
}
