using System.Buffers;

namespace Sluice.Tools.MockNntpServer.Articles;

/// <summary>Doubling of dots at the start of lines (RFC 3977 section 3.1.1) over whole bodies.</summary>
internal static class DotStuffing
{
    /// <summary>The body as it goes over the wire, always ended by CRLF unless it is empty.</summary>
    public static byte[] Add(ReadOnlySpan<byte> body)
    {
        var output = new ArrayBufferWriter<byte>(body.Length + 1024);
        var ended = body.IsEmpty || body.EndsWith("\r\n"u8);
        while (!body.IsEmpty)
        {
            if (body[0] == (byte)'.')
                output.Write("."u8);
            var next = body.IndexOf("\r\n."u8);
            var take = next < 0 ? body.Length : next + 2;
            output.Write(body[..take]);
            body = body[take..];
        }

        if (!ended)
            output.Write("\r\n"u8);
        return output.WrittenSpan.ToArray();
    }

    /// <summary>The body as it was posted.</summary>
    public static byte[] Remove(ReadOnlySpan<byte> stuffed)
    {
        var output = new ArrayBufferWriter<byte>(stuffed.Length + 1);
        while (!stuffed.IsEmpty)
        {
            if (stuffed[0] == (byte)'.')
                stuffed = stuffed[1..];
            var next = stuffed.IndexOf("\r\n."u8);
            var take = next < 0 ? stuffed.Length : next + 2;
            output.Write(stuffed[..take]);
            stuffed = stuffed[take..];
        }

        return output.WrittenSpan.ToArray();
    }
}
