using System.IO.Pipelines;
using System.Net.Sockets;

namespace Sluice.Usenet.Nntp.Wire;

/// <summary>The socket of one connection and the streams over it. Owned by the dialer first, then by one connection.</summary>
internal sealed class NntpTransport : IAsyncDisposable
{
    private readonly Socket _socket;
    private readonly GatheringStream? _gathering;
    private readonly ReceiveAheadStream? _ahead;

    // Owns all streams. stream: reads the socket, directly or over TLS, but must not own it. gathering: right above the socket. ahead: right below TLS.
    public NntpTransport(Socket socket, Stream stream, int receiveBufferBytes, GatheringStream? gathering = null, ReceiveAheadStream? ahead = null)
    {
        (_socket, _gathering, _ahead) = (socket, gathering, ahead);
        Stream = stream;
        // A zero-byte read waits for data, so that an idle connection holds no buffer.
        Input = PipeReader.Create(stream, new StreamPipeReaderOptions(bufferSize: receiveBufferBytes, minimumReadSize: receiveBufferBytes / 4, useZeroByteReads: true));
    }

    /// <summary>For writing only, because all reading goes through <see cref="Input"/>.</summary>
    public Stream Stream { get; }

    public PipeReader Input { get; }

    /// <summary>Whether bytes have arrived that have not been read yet.</summary>
    public bool HasUnread => _socket.Unread() > 0;

    /// <summary>Number of bytes received from the socket that TLS has not read yet. Reader only.</summary>
    public int HeldByTls => _ahead?.Held ?? 0;

    /// <summary>Whether the last bytes read were gathered, so that they arrived over some time. Reader only.</summary>
    public bool HasGathered => _gathering is { HasGathered: true };

    /// <summary>Start of the silence, in ticks, that ended the gathering of the last bytes read; null if none. Reader only.</summary>
    public long? SilentSince => _gathering?.SilentSince;

    /// <summary>Sets the callback for bytes that have arrived but are still being gathered. The callback receives the time in ticks.</summary>
    public void ReportGathered(Action<long> progress)
    {
        if (_gathering is not null)
            _gathering.Progress = progress;
    }

    /// <inheritdoc cref="GatheringStream.Expect"/>
    public void Expect(long stillToCome, double bytesPerSecond) => _gathering?.Expect(stillToCome, bytesPerSecond);

    public void Abort() => _socket.Reset();

    /// <summary>Stops reading and writing, but closes only the sending side, so that <see cref="Socket"/> shows the server's close.</summary>
    public void Leave()
    {
        _socket.StopSending();
        Input.CancelPendingRead();
    }

    /// <summary>The socket, for awaiting the server's close once nothing reads from <see cref="Input"/>.</summary>
    public Socket Socket => _socket;

    public void FinishSending() => _socket.Shutdown(SocketShutdown.Send);

    public ValueTask DisposeAsync()
    {
        _socket.Dispose();
        return ReleaseAsync();
    }

    /// <summary>Disposes everything except the socket, which then belongs to the caller. Nothing may read or write afterwards.</summary>
    public async ValueTask ReleaseAsync()
    {
        await Input.CompleteAsync();
        await Stream.DisposeAsync();
    }
}
