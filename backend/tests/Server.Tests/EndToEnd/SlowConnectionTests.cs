using System.Net.Sockets;
using System.Text;
using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>Clients that never finish a request do not slow down players (S25).</summary>
[Trait("Category", EndToEndRun.Name)]
public sealed class SlowConnectionTests
{
    private const int Connections = 1000;
    private const int Piece = 100_000;
    private static readonly SyntheticFilm Film = new(9, 60_000_000, 716_800);

    [Fact]
    public async Task Slow_connections_are_closed_and_do_not_disturb_a_stream()
    {
        var cancel = TestContext.Current.CancellationToken;
        await using var set = await MockedServer.StartAsync(new MockOptions(), null, cancel);
        await Film.PublishAsync(set.Client, cancel);
        using var answer = await set.Client.OpenAsync(Film.Path, null, null, cancel);
        await using var body = await answer.Content.ReadAsStreamAsync(cancel);
        var offset = await ReadAsync(body, 0, 10, cancel);

        var slow = new List<Socket>();
        try
        {
            for (var i = 0; i < Connections; i++)
            {
                var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
                slow.Add(socket);
                await socket.ConnectAsync("127.0.0.1", set.Server.Port, cancel);
                await TrySendAsync(socket, "GET /README HTTP/1.1\r\nHost: x\r\nX-Slow: ", cancel);
            }

            // A player still reads, although every connection that a client may have is taken.
            await ReadAsync(body, offset, (int)(Film.Size / Piece) - 10, cancel);
            // The server closes them all: those beyond the limit at once, the others when their headers time out.
            await Task.WhenAll(slow.Select(socket => ReadToEndAsync(socket, cancel)));
        }
        finally
        {
            slow.ForEach(socket => socket.Dispose());
        }

        Film.AssertEqual(0, await set.Client.GetRangeAsync(Film.Path, 0, 999, Film.Size, cancel));
    }

    private static async Task<long> ReadAsync(Stream body, long offset, int pieces, CancellationToken cancel)
    {
        var piece = new byte[Piece];
        for (var i = 0; i < pieces; i++, offset += Piece)
        {
            await body.ReadExactlyAsync(piece, cancel);
            Film.AssertEqual(offset, piece);
        }

        return offset;
    }

    private static async Task TrySendAsync(Socket socket, string text, CancellationToken cancel)
    {
        try
        {
            await socket.SendAsync(Encoding.ASCII.GetBytes(text), cancel);
        }
        catch (SocketException)
        {
            // The connection exceeded the limit and is already closed.
        }
    }

    /// <summary>Reads the server's answer, if any, until the server closes the connection.</summary>
    private static async Task ReadToEndAsync(Socket socket, CancellationToken cancel)
    {
        var buffer = new byte[1024];
        try
        {
            while (await socket.ReceiveAsync(buffer, cancel) > 0)
            {
            }
        }
        catch (SocketException)
        {
            // A reset also closes the connection.
        }
    }
}
