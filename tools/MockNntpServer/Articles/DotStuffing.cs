using System.Buffers;

namespace Sluice.Tools.MockNntpServer.Articles;

/// <summary>Dot-stuffing of whole bodies (RFC 3977 section 3.1.1).</summary>
internal static class DotStuffing
{
    /// <summary>Returns the dot-stuffed body. It ends with CRLF unless it is empty.</summary>
    public static byte[] Add(ReadOnlySpan<byte> body) => Change(body, adds: true, body.IsEmpty || body.EndsWith("\r\n"u8) ? [] : "\r\n"u8);

    /// <summary>Returns the body as posted.</summary>
    public static byte[] Remove(ReadOnlySpan<byte> stuffed) => Change(stuffed, adds: false, end: []);

    private static byte[] Change(ReadOnlySpan<byte> body, bool adds, ReadOnlySpan<byte> end)
    {
        var output = new ArrayBufferWriter<byte>(body.Length + 1024);
        while (!body.IsEmpty)
        {
            if (body[0] == (byte)'.' && adds)
                output.Write("."u8);
            else if (body[0] == (byte)'.')
                body = body[1..];
            var next = body.IndexOf("\r\n."u8);
            var take = next < 0 ? body.Length : next + 2;
            output.Write(body[..take]);
            body = body[take..];
        }

        output.Write(end);
        return output.WrittenSpan.ToArray();
    }
}
