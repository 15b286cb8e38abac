using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using Xunit;

namespace Sluice.Usenet.Tests.Mock;

/// <summary>A client that uses sockets and lines, and no code of the engine.</summary>
internal sealed class RawClient : IAsyncDisposable
{
    private readonly List<byte> _received = [];
    private readonly byte[] _buffer = new byte[64 * 1024];
    private Stream _stream;

    private RawClient(Socket socket)
    {
        Socket = socket;
        _stream = new NetworkStream(socket, ownsSocket: true);
    }

    public Socket Socket { get; }

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    /// <summary>Connects without reading the greeting.</summary>
    public static async Task<RawClient> ConnectAsync(int port)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        await socket.ConnectAsync(IPAddress.Loopback, port, Cancelled);
        return new RawClient(socket);
    }

    /// <summary>Connects and expects a good greeting.</summary>
    public static async Task<RawClient> OpenAsync(int port)
    {
        var client = await ConnectAsync(port);
        Assert.StartsWith("200 ", await client.ReadLineAsync(), StringComparison.Ordinal);
        return client;
    }

    /// <summary>Starts TLS as a careful client does, trusting only one authority.</summary>
    public async Task SecureAsync(string authorityPem, string host = "localhost")
    {
        var policy = new X509ChainPolicy { TrustMode = X509ChainTrustMode.CustomRootTrust, RevocationMode = X509RevocationMode.NoCheck };
        policy.CustomTrustStore.Add(X509Certificate2.CreateFromPem(authorityPem));
        var secure = new SslStream(_stream);
        _stream = secure;
        await secure.AuthenticateAsClientAsync(new SslClientAuthenticationOptions { TargetHost = host, CertificateChainPolicy = policy }, Cancelled);
    }

    /// <summary>Sends lines in one packet.</summary>
    public async Task SendAsync(params string[] lines) =>
        await _stream.WriteAsync(Encoding.UTF8.GetBytes(string.Concat(lines.Select(line => line + "\r\n"))), Cancelled);

    /// <summary>Sends one line and reads one.</summary>
    public async Task<string> AskAsync(string line)
    {
        await SendAsync(line);
        return await ReadLineAsync();
    }

    /// <summary>Reads a line and returns it without its CRLF.</summary>
    public async Task<string> ReadLineAsync() => Encoding.UTF8.GetString((await ReadThroughAsync("\n"u8.ToArray()))[..^1]).TrimEnd('\r');

    /// <summary>Reads a multi-line block and returns it as sent, terminator included.</summary>
    public async Task<byte[]> ReadBlockAsync() => await ReadThroughAsync("\r\n.\r\n"u8.ToArray());

    /// <summary>Reads a multi-line block and returns it with dots undoubled, without the terminator.</summary>
    public async Task<byte[]> ReadBodyAsync() => RawArticle.Unstuff(await ReadBlockAsync());

    /// <summary>Requests a body; the server must have it.</summary>
    public async Task<byte[]> ReadBodyAsync(string messageId)
    {
        Assert.Equal($"222 0 <{messageId}>", await AskAsync($"BODY <{messageId}>"));
        return await ReadBodyAsync();
    }

    /// <summary>Reads until the server closes its side. Returns the bytes, and whether the server reset the connection.</summary>
    public async Task<(byte[] Bytes, bool Reset)> ReadToEndAsync()
    {
        try
        {
            while (await ReceiveAsync())
            {
            }
        }
        catch (IOException)
        {
            return (Take(_received.Count), true);
        }

        return (Take(_received.Count), false);
    }

    /// <summary>Waits for at least this many bytes and returns all that have arrived.</summary>
    public async Task<byte[]> ReadAtLeastAsync(int count)
    {
        while (_received.Count < count)
            Assert.True(await ReceiveAsync(), "The server closed the connection.");
        return Take(_received.Count);
    }

    public async ValueTask DisposeAsync() => await _stream.DisposeAsync();

    private async Task<byte[]> ReadThroughAsync(byte[] end)
    {
        var searched = 0;
        while (true)
        {
            var found = System.Runtime.InteropServices.CollectionsMarshal.AsSpan(_received)[searched..].IndexOf(end);
            if (found >= 0)
                return Take(searched + found + end.Length);
            searched = Math.Max(0, _received.Count - end.Length);
            Assert.True(await ReceiveAsync(), $"The server closed the connection after {_received.Count} bytes.");
        }
    }

    private async Task<bool> ReceiveAsync()
    {
        var read = await _stream.ReadAsync(_buffer, Cancelled);
        _received.AddRange(_buffer.AsSpan(0, read));
        return read > 0;
    }

    private byte[] Take(int count)
    {
        var bytes = _received[..count].ToArray();
        _received.RemoveRange(0, count);
        return bytes;
    }
}
