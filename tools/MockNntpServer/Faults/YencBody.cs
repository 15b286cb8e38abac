using System.Diagnostics.CodeAnalysis;
using System.Text;

namespace Sluice.Tools.MockNntpServer.Faults;

/// <summary>A yEnc body split into keyword lines and data lines. Immutable.</summary>
/// <param name="Begin">The <c>=ybegin</c> line without CRLF, one character per byte; empty to omit it.</param>
/// <param name="Lines">Data lines with CRLF, without dot-stuffing.</param>
/// <param name="End">The <c>=yend</c> line; empty to omit it.</param>
internal sealed record YencBody(string Begin, string Part, ReadOnlyMemory<byte> Lines, string End)
{
    public static bool TryParse(ReadOnlyMemory<byte> body, [NotNullWhen(true)] out YencBody? parsed)
    {
        parsed = null;
        var begin = TakeLine(ref body, "=ybegin "u8);
        if (begin.Length == 0)
            return false;
        var part = TakeLine(ref body, "=ypart "u8);
        var end = body.Span.LastIndexOf("=yend "u8);
        if (end < 0)
            return false;
        parsed = new YencBody(begin, part, body[..end], Encoding.Latin1.GetString(body.Span[end..]).TrimEnd('\r', '\n'));
        return true;
    }

    public byte[] ToBytes() => [.. Line(Begin), .. Line(Part), .. Lines.Span, .. Line(End)];

    private static byte[] Line(string text) => text.Length == 0 ? [] : Encoding.Latin1.GetBytes(text + "\r\n");

    private static string TakeLine(ref ReadOnlyMemory<byte> body, ReadOnlySpan<byte> keyword)
    {
        var end = body.Span.IndexOf("\r\n"u8);
        if (end < 0 || !body.Span.StartsWith(keyword))
            return "";
        var line = Encoding.Latin1.GetString(body.Span[..end]);
        body = body[(end + 2)..];
        return line;
    }
}
