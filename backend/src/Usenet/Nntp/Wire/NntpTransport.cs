using System.IO.Pipelines;
using System.Net.Sockets;

namespace Sluice.Usenet.Nntp.Wire;

/// <summary>The socket of one connection with the streams on top of it. Owned by one connection, or by the dialler before.</summary>
internal sealed class NntpTransport : IAsyncDisposable
{
    private readonly Socket _socket;

    /// <param name="socket">Connected; owned.</param>
    /// <param name="stream">The socket's stream, or TLS over it; owned. Does not own the socket.</param>
    /// <param name="receiveBufferBytes">Size of one receive.</param>
    public NntpTransport(Socket socket, Stream stream, int receiveBufferBytes)
    {
        _socket = socket;
        Stream = stream;
        // A zero-byte read waits for data, so that an idle connection holds no buffer.
        Input = PipeReader.Create(stream, new StreamPipeReaderOptions(bufferSize: receiveBufferBytes, minimumReadSize: receiveBufferBytes / 4, useZeroByteReads: true));
    }

    /// <summary>For writing; all reading goes through <see cref="Input"/>.</summary>
    public Stream Stream { get; }

    public PipeReader Input { get; }

    /// <summary>Whether bytes have come that have not been read yet.</summary>
    public bool HasUnread
    {
        get
        {
            try
            {
                return _socket.Available > 0;
            }
            catch (Exception error) when (error is SocketException or ObjectDisposedException)
            {
                // Closed; nothing more will be read.
                return false;
            }
        }
    }

    /// <summary>Closes at once, whatever is under way: pending reads and writes fail, and the server sees a reset.</summary>
    public void Abort() => _socket.Reset();

    /// <summary>Ends all reading and writing, and closes the sending side only: <see cref="Socket"/> shows when the server closes the other.</summary>
    public void Leave()
    {
        _socket.StopSending();
        Input.CancelPendingRead();
    }

    /// <summary>For waiting for the server's close, once nothing reads from <see cref="Input"/> any more.</summary>
    public Socket Socket => _socket;

    /// <summary>Nothing more will be sent.</summary>
    public void FinishSending() => _socket.Shutdown(SocketShutdown.Send);

    public ValueTask DisposeAsync()
    {
        _socket.Dispose();
        return ReleaseAsync();
    }

    /// <summary>Puts away everything but the socket, which belongs to the caller from here on. Nothing reads or writes any more.</summary>
    public async ValueTask ReleaseAsync()
    {
        await Input.CompleteAsync();
        await Stream.DisposeAsync();
    }
}
