using System.Net.Sockets;
using System.Threading.Channels;
using Sluice.Usenet.Nntp.Wire;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>An idle connection holds no receive buffer, however many connections there are.</summary>
public sealed class TransportTests
{
    private const int BufferBytes = 256 * 1024;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Idle_connection_holds_no_receive_buffer(bool receivesAhead)
    {
        var socket = new WatchedStream();
        using var unused = new Socket(SocketType.Stream, ProtocolType.Tcp);
        await using var transport = new NntpTransport(unused, receivesAhead ? new ReceiveAheadStream(socket, BufferBytes) : socket, BufferBytes);

        for (var news = 0; news < 3; news++)
        {
            var reading = transport.Input.ReadAsync(TestContext.Current.CancellationToken).AsTask();
            await socket.WaitAsync();
            Assert.Equal(0, socket.MemoryOfThePendingRead);
            Assert.False(reading.IsCompleted);

            socket.Bring("200 hello\r\n"u8.ToArray());
            var result = await reading;
            Assert.Equal(11, result.Buffer.Length);
            transport.Input.AdvanceTo(result.Buffer.End);
        }

        Assert.Equal(3, socket.Waits);
    }

    /// <summary>Replaces the socket and records the buffer size of the pending read.</summary>
    private sealed class WatchedStream : Stream
    {
        private readonly Channel<byte[]> _news = Channel.CreateUnbounded<byte[]>();
        private readonly SemaphoreSlim _waiting = new(0);
        private byte[]? _arrived;

        public int MemoryOfThePendingRead { get; private set; }

        public int Waits { get; private set; }

        public override bool CanRead => true;

        public override bool CanWrite => false;

        public override bool CanSeek => false;

        public override long Length => throw new NotSupportedException();

        public override long Position
        {
            get => throw new NotSupportedException();
            set => throw new NotSupportedException();
        }

        public Task WaitAsync() => _waiting.WaitAsync(TestContext.Current.CancellationToken);

        public void Bring(byte[] news) => Assert.True(_news.Writer.TryWrite(news));

        public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
        {
            if (_arrived is null)
            {
                Waits++;
                MemoryOfThePendingRead = buffer.Length;
                _waiting.Release();
                _arrived = await _news.Reader.ReadAsync(cancellationToken);
            }

            if (buffer.IsEmpty)
                return 0;
            var count = _arrived.Length;
            _arrived.CopyTo(buffer);
            _arrived = null;
            return count;
        }

        public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
            ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

        public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

        public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

        public override void Flush()
        {
        }

        public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

        public override void SetLength(long value) => throw new NotSupportedException();

        protected override void Dispose(bool disposing)
        {
            if (disposing)
                _waiting.Dispose();
            base.Dispose(disposing);
        }
    }
}
