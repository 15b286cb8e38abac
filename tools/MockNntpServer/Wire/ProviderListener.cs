using System.Net;
using System.Net.Sockets;
using Sluice.Tools.MockNntpServer.Faults;

namespace Sluice.Tools.MockNntpServer.Wire;

/// <summary>Accepts the connections of one provider, unless a fault shuts it.</summary>
internal sealed class ProviderListener : IAsyncDisposable
{
    private const int Backlog = 512;

    /// <summary>A connection to itself succeeds at once or never. It uses the real clock, because the kernel decides.</summary>
    private static readonly TimeSpan FillPatience = TimeSpan.FromSeconds(1);

    private readonly ProviderState _provider;
    private readonly Handshake? _tls;
    private readonly CancellationTokenSource _stopping = new();
    private readonly Lock _lock = new();
    private readonly List<Task> _connections = [];
    private readonly Task _accepting;
    private CancellationTokenSource _dropping;
    private Socket _listener;
    private int _accepted;

    public ProviderListener(ProviderState provider, IPAddress address, Handshake? tls)
    {
        _provider = provider;
        _tls = tls;
        _listener = Bind(new IPEndPoint(address, provider.Settings.Port));
        _listener.Listen(Backlog);
        EndPoint = (IPEndPoint)_listener.LocalEndPoint!;
        _dropping = CancellationTokenSource.CreateLinkedTokenSource(_stopping.Token);
        _accepting = AcceptAsync(_stopping.Token);
    }

    public IPEndPoint EndPoint { get; }

    /// <summary>Whether the system holds connections that are not yet accepted. Always false while a fault shuts the provider.</summary>
    public bool HasUnaccepted
    {
        get
        {
            try
            {
                return _listener.Poll(TimeSpan.Zero, SelectMode.SelectRead);
            }
            catch (Exception e) when (e is SocketException or ObjectDisposedException)
            {
                return false;
            }
        }
    }

    public async Task DropConnectionsAsync()
    {
        Task[] dropped;
        CancellationTokenSource dropping;
        lock (_lock)
        {
            dropped = [.. _connections];
            dropping = _dropping;
            _dropping = CancellationTokenSource.CreateLinkedTokenSource(_stopping.Token);
        }

        await dropping.CancelAsync();
        await Task.WhenAll(dropped);
        dropping.Dispose();
    }

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await _accepting;
        _listener.Dispose();
        await Task.WhenAll(_connections);
        _dropping.Dispose();
        _stopping.Dispose();
    }

    private static Socket Bind(IPEndPoint endPoint)
    {
        var socket = new Socket(endPoint.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
        socket.Bind(endPoint);
        return socket;
    }

    private async Task AcceptAsync(CancellationToken stopping)
    {
        while (!stopping.IsCancellationRequested)
        {
            var now = _provider.Clock.SinceStart;
            if (_provider.Plan.Gate(_provider.Index, now) is { } shut)
            {
                await StayShutAsync(shut, stopping);
                continue;
            }

            using var change = new GateChange(_provider, stopping);
            try
            {
                var socket = await _listener.AcceptAsync(change.Token);
                Serve(socket);
            }
            catch (OperationCanceledException)
            {
                // Check the gate again, because settings or faults may have changed.
            }
            catch (SocketException)
            {
                // Ignored, because the client disconnected before it was accepted.
            }
        }
    }

    private void Serve(Socket socket)
    {
        lock (_lock)
        {
            _connections.RemoveAll(connection => connection.IsCompleted);
            _connections.Add(new MockConnection(_provider, socket, ++_accepted, _tls).RunAsync(_dropping.Token));
        }
    }

    /// <summary>Refuses or drops connection requests until the fault ends.</summary>
    private async Task StayShutAsync(MockFault fault, CancellationToken stopping)
    {
        _listener.Dispose();
        using var holder = Bind(EndPoint);
        using var filler = fault.Kind == FaultKind.ConnectBlackhole ? await FillAsync(holder, stopping) : null;
        _provider.Stats.FaultHappened(fault.Kind);
        if (fault.Kind == FaultKind.PolicyDown)
            await DropConnectionsAsync();
        while (!stopping.IsCancellationRequested && _provider.Plan.Gate(_provider.Index, _provider.Clock.SinceStart) == fault)
        {
            using var change = new GateChange(_provider, stopping);
            await change.WaitAsync();
        }

        filler?.Dispose();
        holder.Dispose();
        _listener = Bind(EndPoint);
        _listener.Listen(Backlog);
    }

    /// <summary>Fills the accept queue, so that the kernel drops every further request.</summary>
    private static async Task<Socket> FillAsync(Socket holder, CancellationToken stopping)
    {
        // One connection is enough, because a queue of length 0 has room for one.
        holder.Listen(0);
        var filler = new Socket(holder.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(stopping);
        patience.CancelAfter(FillPatience);
        try
        {
            await filler.ConnectAsync(holder.LocalEndPoint!, patience.Token);
        }
        catch (OperationCanceledException)
        {
            // Ignored, because a faster client has already filled the queue, or the mock stops.
        }

        return filler;
    }
}
