using System.IO.Pipelines;
using System.Net;
using System.Net.Sockets;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Connections.Features;
using Sluice.Server.Listening;
using Sluice.Usenet.Primitives;
using Xunit;

namespace Sluice.Server.Tests.Listening;

public sealed class SocketOutputTests
{
    private const int MuchMoreThanTheSystemTakes = 32 << 20;

    [Fact(Timeout = 60_000)]
    public async Task Complete_during_a_flush_leaves_lent_blocks_to_the_flush()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        using var client = new TcpClient { ReceiveBufferSize = 4096 };
        await client.ConnectAsync((IPEndPoint)listener.LocalEndpoint, TestContext.Current.CancellationToken);
        using var socket = await listener.AcceptSocketAsync(TestContext.Current.CancellationToken);
        var connection = new Connection(socket);
        var blocks = new CountedBlocks();

        await SocketOutput.Serve(async context =>
        {
            var (output, direct) = (context.Transport.Output, context.Features.Get<IBlockOutput>()!);
            direct.Loan.Add(blocks, new ArraySegment<byte>(new byte[MuchMoreThanTheSystemTakes]));
            direct.WriteLoan(output);
            var flush = output.FlushAsync(CancellationToken.None).AsTask();
            Assert.False(flush.IsCompleted);

            output.Complete();
            Assert.Equal((1, true), (blocks.Counts, connection.IsAborted));

            // The abort closes the socket, which ends the flush.
            socket.Dispose();
            await flush;
            Assert.Equal(0, blocks.Counts);
        })(connection);
    }

    private sealed class Connection : DefaultConnectionContext, IConnectionSocketFeature
    {
        public Connection(Socket socket)
        {
            Socket = socket;
            Transport = new Pipes();
            Features.Set<IConnectionSocketFeature>(this);
        }

        public Socket Socket { get; }

        public bool IsAborted { get; private set; }

        public override void Abort(ConnectionAbortedException abortReason) => IsAborted = true;
    }

    private sealed class Pipes : IDuplexPipe
    {
        public PipeReader Input { get; } = new Pipe().Reader;

        public PipeWriter Output { get; } = new Pipe().Writer;
    }

    private sealed class CountedBlocks : ILender
    {
        public int Counts { get; private set; }

        public void Lend(byte[] block) => Counts++;

        public void TakeBack(byte[] block) => Counts--;
    }
}
