using System.Net;
using System.Net.Sockets;

namespace Sluice.Usenet.Nntp.Wire;

/// <summary>The slots under the connection cap that a running dial uses. Thread-safe.</summary>
internal interface IDialPlaces
{
    /// <summary>Takes a slot for one more socket besides the dial's own; false if none is free.</summary>
    bool TryTake();

    void Return();

    /// <summary>Takes over an unneeded socket. It keeps a slot until the server notices the close, because the server may still count it.</summary>
    /// <param name="socket">Its sending side is closed. The callee owns the socket.</param>
    void Leave(Socket socket);
}

/// <summary>Connects to the first address that responds (RFC 8305). Alternates address families and starts one attempt every 250 ms.</summary>
internal sealed class AddressRace(NntpOptions options, NntpMeter meter, TimeProvider time, IDialPlaces places)
{
    private const int TcpUserTimeoutOption = 18;
    private const int TcpProtocolLevel = 6;

    // RFC 8305 section 5, "Connection Attempt Delay".
    private static readonly TimeSpan AttemptDelay = TimeSpan.FromMilliseconds(250);
    private static readonly TimeSpan TcpUserTimeout = TimeSpan.FromSeconds(15);

    /// <summary>Alternates the address families (RFC 8305 section 4), beginning with <paramref name="first"/> or the first address.</summary>
    public static IReadOnlyList<IPAddress> InTurn(IReadOnlyList<IPAddress> addresses, AddressFamily? first, int most)
    {
        var leading = first ?? (addresses.Count > 0 ? addresses[0].AddressFamily : AddressFamily.Unspecified);
        var one = addresses.Where(address => address.AddressFamily == leading).ToArray();
        var other = addresses.Where(address => address.AddressFamily != leading).ToArray();
        var turns = new List<IPAddress>(addresses.Count);
        for (var i = 0; i < Math.Max(one.Length, other.Length); i++)
        {
            if (i < one.Length)
                turns.Add(one[i]);
            if (i < other.Length)
                turns.Add(other[i]);
        }

        return turns.Count <= most ? turns : turns[..most];
    }

    /// <summary>Tries the addresses, at least one, in order. Only the returned socket stays open.</summary>
    /// <exception cref="SocketException">No address can be reached.</exception>
    public async Task<Socket> RunAsync(IReadOnlyList<IPAddress> addresses, int port, CancellationToken cancellationToken)
    {
        using var losing = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var attempts = new List<Attempt>();
        Attempt? winner = null;
        Exception? failure = null;
        try
        {
            for (var next = 0; winner is null;)
            {
                // The first attempt uses the dial's own slot. A later attempt may use that slot after the attempt that held the slot has failed.
                var hasOwn = !attempts.Exists(attempt => attempt.HasDialsPlace);
                if (next < addresses.Count && (hasOwn || places.TryTake()))
                    attempts.Add(new Attempt(this, addresses[next++], port, hasOwn, losing.Token));
                else if (next < addresses.Count && attempts[^1].Age >= options.ConnectTimeout / addresses.Count)
                    attempts[^1].GiveUp();
                else if (attempts.Count == 0)
                    throw failure ?? new SocketException((int)SocketError.HostUnreachable);

                await WaitAsync(attempts, mayBeginNext: next < addresses.Count, losing.Token);
                for (var i = attempts.Count - 1; i >= 0 && winner is null; i--)
                {
                    if (!attempts[i].Connecting.IsCompleted)
                        continue;
                    if (attempts[i].Connecting.IsCompletedSuccessfully)
                    {
                        winner = attempts[i];
                        continue;
                    }

                    failure = attempts[i].Connecting.Exception?.InnerException ?? failure;
                    await LoseAsync(attempts[i]);
                    attempts.RemoveAt(i);
                }
            }

            return await winner.Connecting;
        }
        finally
        {
            await losing.CancelAsync();
            foreach (var attempt in attempts.Where(attempt => attempt != winner))
                await LoseAsync(attempt);

            // From here on, the winning socket uses the dial's own slot.
            if (winner is { HasDialsPlace: false })
                places.Return();
            winner?.Dispose();
        }
    }

    private async Task WaitAsync(List<Attempt> attempts, bool mayBeginNext, CancellationToken cancellationToken)
    {
        using var waiting = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var ends = attempts.Select(attempt => (Task)attempt.Connecting);
        await Task.WhenAny(mayBeginNext ? ends.Append(Task.Delay(AttemptDelay, time, waiting.Token)) : ends);
        await waiting.CancelAsync();
        cancellationToken.ThrowIfCancellationRequested();
    }

    private async Task LoseAsync(Attempt attempt)
    {
        try
        {
            var socket = await attempt.Connecting;
            socket.StopSending();
            places.Leave(socket);
        }
        catch (Exception error) when (error is SocketException or OperationCanceledException)
        {
            // The connect failed, so there is no socket to close.
            meter.SocketClosed();
        }

        if (!attempt.HasDialsPlace)
            places.Return();
        attempt.Dispose();
    }

    private sealed class Attempt : IDisposable
    {
        private readonly AddressRace _race;
        private readonly CancellationTokenSource _giveUp;
        private readonly long _since;

        public Attempt(AddressRace race, IPAddress address, int port, bool hasDialsPlace, CancellationToken cancellationToken)
        {
            _race = race;
            _since = race.Now;
            HasDialsPlace = hasDialsPlace;
            _giveUp = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
            Connecting = ConnectAsync(address, port);
        }

        /// <summary>Completes with the socket, which the race owns.</summary>
        public Task<Socket> Connecting { get; }

        /// <summary>Whether the attempt uses the dial's own slot instead of an additional one.</summary>
        public bool HasDialsPlace { get; }

        public TimeSpan Age => _race.Since(_since);

        public void GiveUp() => _giveUp.Cancel();

        public void Dispose() => _giveUp.Dispose();

        private async Task<Socket> ConnectAsync(IPAddress address, int port)
        {
            var meter = _race.Meter;
            meter.SocketOpening();
            var socket = new Socket(address.AddressFamily, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
            try
            {
                socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive, true);
                if (OperatingSystem.IsLinux())
                    socket.SetRawSocketOption(TcpProtocolLevel, TcpUserTimeoutOption, BitConverter.GetBytes((int)TcpUserTimeout.TotalMilliseconds));
                await socket.ConnectAsync(new IPEndPoint(address, port), _giveUp.Token);
                meter.SocketOpened();
                return socket;
            }
            catch (Exception error)
            {
                // The kernel may have connected anyway, because its completion can cross the cancellation.
                if (error is OperationCanceledException)
                    meter.SocketAbandoned();
                socket.Dispose();
                throw;
            }
        }
    }

    private NntpMeter Meter => meter;

    private long Now => time.GetTimestamp();

    private TimeSpan Since(long stamp) => time.GetElapsedTime(stamp);
}
