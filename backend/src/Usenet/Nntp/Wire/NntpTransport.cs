using System.IO.Pipelines;
using System.Net.Sockets;

namespace Sluice.Usenet.Nntp;

/// <summary>The socket of one connection with the streams on top of it. Owned by one connection, or by the dialler before.</summary>
internal sealed class NntpTransport : IAsyncDisposable
{
    private readonly Socket _socket;

    /// <param name="socket">Connected; owned.</param>
    /// <param name="stream">The socket's stream, or TLS over it; owned.</param>
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
    public void Abort()
    {
        try
        {
            _socket.LingerState = new LingerOption(enable: true, seconds: 0);
        }
        catch (Exception error) when (error is SocketException or ObjectDisposedException)
        {
            // Closed already; that is what was asked for.
        }

        _socket.Dispose();
    }

    /// <summary>Nothing more will be sent.</summary>
    public void FinishSending() => _socket.Shutdown(SocketShutdown.Send);

    public async ValueTask DisposeAsync()
    {
        _socket.Dispose();
        await Input.CompleteAsync();
        await Stream.DisposeAsync();
    }
}
