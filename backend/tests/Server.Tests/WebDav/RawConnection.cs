using System.Globalization;
using System.Net.Sockets;
using System.Text;
using Xunit;

namespace Sluice.Server.Tests.WebDav;

/// <summary>An HTTP/1.1 client that normalizes nothing and reports how a connection ended.</summary>
internal sealed class RawConnection : IAsyncDisposable
{
    private readonly TcpClient _client;
    private readonly Stream _stream;
    private readonly byte[] _buffer = new byte[64 * 1024];
    private int _start;
    private int _end;

    private RawConnection(TcpClient client)
    {
        _client = client;
        _stream = client.GetStream();
    }

    public static async Task<RawConnection> OpenAsync(Uri address)
    {
        var client = new TcpClient();
        await client.ConnectAsync(address.Host, address.Port, TestContext.Current.CancellationToken);
        return new RawConnection(client);
    }

    public Task SendAsync(string requestLine, params string[] headers) => SendAsync(requestLine, headers, "");

    public async Task SendAsync(string requestLine, string[] headers, string body)
    {
        var text = $"{requestLine} HTTP/1.1\r\n";
        if (!headers.Any(header => header.StartsWith("Host:", StringComparison.OrdinalIgnoreCase)))
            text += "Host: tree.test\r\n";
        text += string.Concat(headers.Select(header => header + "\r\n")) + "\r\n" + body;
        await SendRawAsync(text);
    }

    public Task SendRawAsync(string text) => SendRawAsync(Encoding.UTF8.GetBytes(text));

    /// <summary>Sends bytes. Ignores a connection that the server has closed, because the server may have responded before.</summary>
    public async Task SendRawAsync(byte[] bytes)
    {
        try
        {
            await _stream.WriteAsync(bytes, TestContext.Current.CancellationToken);
        }
        catch (IOException failure) when (failure.InnerException is SocketException)
        {
            // The caller reads the response next, and fails there if there is none.
        }
    }

    /// <summary>Closes the connection with a reset.</summary>
    public void Abort() => _client.Client.Close(timeout: 0);

    public async Task<RawAnswer> ReadAnswerAsync(bool isHead)
    {
        var answer = await ReadHeadAsync();
        if (isHead || answer.Status is 204 or 304)
            return answer;
        await ReadBodyAsync(answer);
        return answer;
    }

    /// <summary>Reads a response that a reset may overtake: the reset discards received bytes that have not been read.</summary>
    public async Task<RawAnswer> ReadAnswerOrResetAsync()
    {
        try
        {
            return await ReadAnswerAsync(isHead: false);
        }
        catch (IOException failure) when (failure.InnerException is SocketException)
        {
            return new RawAnswer(0) { WasReset = true };
        }
    }

    public async Task<RawAnswer> ReadHeadAsync()
    {
        var status = (await ReadLineAsync()).Split(' ', 3);
        var answer = new RawAnswer(int.Parse(status[1], CultureInfo.InvariantCulture));
        while (await ReadLineAsync() is { Length: > 0 } line)
        {
            var colon = line.IndexOf(':', StringComparison.Ordinal);
            answer.Headers.Add((line[..colon], line[(colon + 1)..].Trim()));
        }

        return answer;
    }

    /// <summary>Reads the announced body, or as much as arrives before the connection ends, and notes how it ended.</summary>
    public async Task ReadBodyAsync(RawAnswer answer)
    {
        try
        {
            if (answer["Transfer-Encoding"] == "chunked")
                await ReadChunksAsync(answer);
            else
                await ReadExactlyAsync(answer, long.Parse(answer["Content-Length"]!, CultureInfo.InvariantCulture) - answer.Length);
            answer.IsComplete = true;
        }
        catch (IOException failure) when (failure.InnerException is SocketException { SocketErrorCode: SocketError.ConnectionReset })
        {
            answer.WasReset = true;
        }
        catch (EndOfStreamException)
        {
            answer.EndedCleanly = true;
        }
    }

    /// <summary>Reads this many bytes of the body and leaves the rest.</summary>
    public Task ReadPartAsync(RawAnswer answer, int length) => ReadExactlyAsync(answer, length);

    /// <summary>Reads whole chunks of the body until it has this many bytes, and leaves the rest.</summary>
    public async Task ReadFirstChunksAsync(RawAnswer answer, int length)
    {
        while (answer.Length < length)
            await ReadChunkAsync(answer);
    }

    public ValueTask DisposeAsync()
    {
        _client.Dispose();
        return ValueTask.CompletedTask;
    }

    private async Task ReadChunksAsync(RawAnswer answer)
    {
        while (await ReadChunkAsync(answer) > 0)
        {
        }
    }

    private async Task<int> ReadChunkAsync(RawAnswer answer)
    {
        var length = int.Parse(await ReadLineAsync(), NumberStyles.HexNumber, CultureInfo.InvariantCulture);
        await ReadExactlyAsync(answer, length);
        await ReadLineAsync();
        return length;
    }

    private async Task ReadExactlyAsync(RawAnswer answer, long length)
    {
        while (length > 0)
        {
            await FillAsync();
            var taken = (int)Math.Min(length, _end - _start);
            answer.Add(_buffer.AsSpan(_start, taken));
            _start += taken;
            length -= taken;
        }
    }

    private async Task<string> ReadLineAsync()
    {
        var line = new StringBuilder();
        while (true)
        {
            await FillAsync();
            var next = (char)_buffer[_start++];
            if (next == '\n')
                return line.ToString().TrimEnd('\r');
            line.Append(next);
        }
    }

    private async Task FillAsync()
    {
        if (_start < _end)
            return;
        _start = 0;
        _end = await _stream.ReadAsync(_buffer, TestContext.Current.CancellationToken);
        if (_end == 0)
            throw new EndOfStreamException();
    }
}
