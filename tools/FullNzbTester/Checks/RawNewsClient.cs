using System.Net.Security;
using System.Net.Sockets;
using System.Text;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;

namespace Sluice.Tools.FullNzbTester.Checks;

/// <summary>Fetches one article from the mock and disconnects. Shares no code with the engine's connections, so that it can judge them.</summary>
internal static class RawNewsClient
{
    private const int Largest = 64 << 20;

    /// <returns>The raw body with its terminator, or null if the provider did not send it completely.</returns>
    public static async Task<byte[]?> FetchBodyAsync(ProviderOptions provider, MessageId id, CancellationToken cancellationToken)
    {
        using var client = new TcpClient();
        await client.ConnectAsync(provider.Host, provider.Port, cancellationToken);
        Stream stream = client.GetStream();
        if (provider.UseTls)
        {
            // The mock signs its own certificate, so no trusted authority can verify it.
            var secure = new SslStream(stream, leaveInnerStreamOpen: false, (_, certificate, _, _) => certificate is not null);
            await secure.AuthenticateAsClientAsync(new SslClientAuthenticationOptions { TargetHost = provider.Host }, cancellationToken);
            stream = secure;
        }

        await using (stream)
        {
            await stream.WriteAsync(Encoding.ASCII.GetBytes($"BODY <{id}>\r\nQUIT\r\n"), cancellationToken);
            var said = await ReadAllAsync(stream, cancellationToken);
            return BodyOf(said.Span);
        }
    }

    /// <summary>Reads until the server closes the connection. A fault may close it in the middle of the body.</summary>
    private static async Task<ReadOnlyMemory<byte>> ReadAllAsync(Stream stream, CancellationToken cancellationToken)
    {
        var taken = new MemoryStream();
        var buffer = new byte[64 << 10];
        try
        {
            while (taken.Length < Largest && await stream.ReadAsync(buffer, cancellationToken) is > 0 and var read)
                taken.Write(buffer, 0, read);
        }
        catch (IOException)
        {
            // A reset ends the response like a close.
        }

        return taken.GetBuffer().AsMemory(0, (int)taken.Length);
    }

    // greeting CRLF, "222" text CRLF, body up to CRLF "." CRLF
    private static byte[]? BodyOf(ReadOnlySpan<byte> said)
    {
        var greeting = said.IndexOf("\r\n"u8);
        if (greeting < 0)
            return null;
        said = said[(greeting + 2)..];
        var status = said.IndexOf("\r\n"u8);
        if (status < 0 || !said.StartsWith("222"u8))
            return null;
        said = said[(status + 2)..];
        var end = said.IndexOf("\r\n.\r\n"u8);
        return end < 0 ? null : said[..(end + 5)].ToArray();
    }
}
