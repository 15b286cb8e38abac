using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>
/// A minimal news server whose every byte a test scripts. Each connection has a thread that blocks on its socket, so that serving
/// allocates nothing and does not affect the engine's use of threads.
/// </summary>
internal sealed class ScriptedServer : IAsyncDisposable
{
    private readonly Socket _listener = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    private readonly ConcurrentBag<Socket> _sockets = [];
    private readonly ConcurrentBag<Task> _connections = [];
    private readonly CancellationTokenSource _stopping = new();
    private readonly Action<Connection> _serve;
    private readonly Task _accepting;
    private int _accepted;

    /// <param name="serve">Serves one connection, greeting included, until the client leaves. The socket is closed when it returns.</param>
    public ScriptedServer(Action<Connection> serve)
    {
        _serve = serve;
        _listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        _listener.Listen(128);
        _accepting = AcceptAsync();
    }

    public int Port => ((IPEndPoint)_listener.LocalEndPoint!).Port;

    /// <summary>Number of accepted connections.</summary>
    public int Accepted => Volatile.Read(ref _accepted);

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        _listener.Dispose();
        await _accepting;
        foreach (var socket in _sockets)
            socket.Dispose();
        await Task.WhenAll(_connections);
        _stopping.Dispose();
    }

    private async Task AcceptAsync()
    {
        try
        {
            while (true)
            {
                var socket = await _listener.AcceptAsync();
                socket.NoDelay = true;
                _sockets.Add(socket);
                var number = Interlocked.Increment(ref _accepted);
                _connections.Add(Task.Factory.StartNew(() => Serve(socket, number), CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default));
            }
        }
        catch (Exception stopped) when (stopped is SocketException or ObjectDisposedException)
        {
            // The server was disposed.
        }
    }

    private void Serve(Socket socket, int number)
    {
        try
        {
            _serve(new Connection(socket, number, _stopping.Token));
        }
        catch (Exception gone) when (gone is SocketException or ObjectDisposedException or EndOfStreamException or OperationCanceledException)
        {
            // The client has left, or the server was disposed.
        }
        finally
        {
            socket.Dispose();
        }
    }

    /// <summary>One connection, seen from the server.</summary>
    internal sealed class Connection(Socket socket, int number, CancellationToken stopping)
    {
        private readonly byte[] _buffer = new byte[64 * 1024];
        private int _start;
        private int _end;

        /// <summary>Number of the connection in order of acceptance, from 1.</summary>
        public int Number => number;

        /// <summary>Canceled when the server is disposed.</summary>
        public CancellationToken Stopping => stopping;

        public void Send(ReadOnlySpan<byte> bytes)
        {
            while (!bytes.IsEmpty)
                bytes = bytes[socket.Send(bytes)..];
        }

        /// <summary>Returns the next command line without its end; valid until the next call.</summary>
        /// <exception cref="EndOfStreamException">The client has left.</exception>
        public ReadOnlySpan<byte> ReadCommand()
        {
            while (true)
            {
                var received = _buffer.AsSpan(_start, _end - _start);
                if (received.IndexOf("\r\n"u8) is >= 0 and var length)
                {
                    _start += length + 2;
                    return received[..length];
                }

                received.CopyTo(_buffer);
                (_start, _end) = (0, received.Length);
                var count = socket.Receive(_buffer.AsSpan(_end));
                if (count == 0)
                    throw new EndOfStreamException();
                _end += count;
            }
        }

        /// <summary>Closes with a reset.</summary>
        public void Reset()
        {
            socket.LingerState = new LingerOption(true, 0);
            socket.Dispose();
        }

        /// <summary>Closes the sending side and waits until the client leaves.</summary>
        public void Finish()
        {
            socket.Shutdown(SocketShutdown.Send);
            while (socket.Receive(_buffer) > 0)
            {
            }
        }
    }
}
