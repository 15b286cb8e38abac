using System.Net;
using Microsoft.AspNetCore.Connections;

namespace Sluice.Server.Listening;

/// <summary>How many places there are, and how long a stranger may hold one without a use.</summary>
/// <param name="Total">All connections.</param>
/// <param name="Loopback">Further connections that only this machine may open: its health check, above all.</param>
/// <param name="PerClient">Of one address; likewise of the strangers of one <see cref="AddressPrefix"/>.</param>
/// <param name="StrangerIdle">A connection whose client has never proved itself is closed after this time without a request.</param>
internal sealed record ConnectionLimits(int Total, int Loopback, int PerClient, TimeSpan StrangerIdle);

/// <summary>
/// Gives each connection a place, so that no client can take all of them (DAV-77, S25). A connection is a stranger's until a request on it has
/// shown a right credential (<see cref="ProvedRequests"/>). Strangers are counted by address prefix, because one machine has every address of
/// its /64; clients that proved themselves are counted by address, because the devices of a home share one. Where places are
/// full, the stranger that has been idle for longest makes room for the new connection.
/// </summary>
/// <param name="limits">The numbers.</param>
/// <param name="time">The clock.</param>
/// <param name="isTrusted">Whether an address is that of a trusted proxy; null for loopback alone.</param>
/// <remarks>
/// Loopback and trusted proxies may hold any number of connections, however long they are idle; of a client behind such a proxy the concurrent
/// requests are counted instead. Thread-safe: the lock guards all counts and the fields of every <see cref="ClientPlace"/>; connections are closed outside it.
/// </remarks>
internal sealed class ConnectionGate(ConnectionLimits limits, TimeProvider time, Func<IPAddress, bool>? isTrusted = null)
{
    /// <summary>The Retry-After of a client behind a proxy, in seconds.</summary>
    public const string RetryAfterSeconds = "5";

    private readonly Lock _lock = new();
    private readonly Dictionary<IPAddress, int> _clients = [];
    private readonly Dictionary<AddressPrefix, int> _strangers = [];
    private readonly HashSet<ClientPlace> _connections = [];
    private long _opened;

    /// <summary>Wraps the handler of a connection.</summary>
    public ConnectionDelegate Guard(ConnectionDelegate next) => async connection =>
    {
        var address = (connection.RemoteEndPoint as IPEndPoint)?.Address ?? IPAddress.Loopback;
        using var place = Open(TrustedProxies.Plain(address), connection.Abort);
        if (place is null)
        {
            // A proxy or this machine sees an end, and not a reset.
            if (!IsExempt(TrustedProxies.Plain(address)))
                connection.Abort();
            return;
        }

        connection.Features.Set(place);
        await next(connection);
    };

    /// <summary>Serves a request: its connection is not idle meanwhile.</summary>
    /// <param name="context">The request.</param>
    /// <param name="isForwarded">Whether it came through a trusted proxy, so that its client is another one than the peer of the connection.</param>
    /// <param name="next">The rest of the pipeline.</param>
    public async Task ServeAsync(HttpContext context, bool isForwarded, RequestDelegate next)
    {
        var connection = context.Features.Get<ClientPlace>();
        connection?.BeginRequest();
        try
        {
            if (isForwarded)
                await ServeForwardedAsync(context, connection, next);
            else
                await next(context);
        }
        finally
        {
            connection?.EndRequest();
        }
    }

    /// <summary>Closes a connection whose client has been idle for too long.</summary>
    internal void OnIdle(ClientPlace place)
    {
        lock (_lock)
        {
            if (!place.IsIdleStranger || time.GetElapsedTime(place.Since) < limits.StrangerIdle)
                return;
            Leave(place);
        }

        place.Close("No request came.");
    }

    /// <summary>Changes a place under the lock of all.</summary>
    internal void Change(ClientPlace place, Action<ClientPlace> change)
    {
        lock (_lock)
        {
            var isStranger = place is { IsCounted: true, IsProved: false, HasLeft: false };
            change(place);
            if (isStranger && place.IsProved)
                Decrease(_strangers, place.Prefix);
            place.Since = time.GetTimestamp();
            place.Idle?.Change(place.IsIdleStranger ? limits.StrangerIdle : Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        }
    }

    /// <summary>Gives a place back, once.</summary>
    internal void Close(ClientPlace place)
    {
        lock (_lock)
            Leave(place);
    }

    private static bool IsLoopback(IPAddress address) => IPAddress.IsLoopback(address);

    private static void Decrease<T>(Dictionary<T, int> counts, T key)
        where T : notnull
    {
        if (--counts[key] == 0)
            counts.Remove(key);
    }

    private bool IsExempt(IPAddress address) => IsLoopback(address) || isTrusted?.Invoke(address) == true;

    private async Task ServeForwardedAsync(HttpContext context, ClientPlace? connection, RequestDelegate next)
    {
        using var place = OpenRequest(TrustedProxies.Plain(context.Connection.RemoteIpAddress ?? IPAddress.None), connection);
        if (place is null)
        {
            context.Response.StatusCode = StatusCodes.Status429TooManyRequests;
            context.Response.Headers.RetryAfter = RetryAfterSeconds;
            return;
        }

        context.Features.Set(place);
        await next(context);
    }

    private ClientPlace? OpenRequest(IPAddress address, ClientPlace? connection)
    {
        lock (_lock)
        {
            var place = new ClientPlace(this, address, isCounted: !IsExempt(address), connection);
            if (place.IsCounted && IsFull(place))
                return null;
            Enter(place);
            return place;
        }
    }

    private ClientPlace? Open(IPAddress address, Action<ConnectionAbortedException> abort)
    {
        List<ClientPlace> closed = [];
        var place = new ClientPlace(this, address, isCounted: !IsExempt(address), outer: null) { Abort = abort };
        bool hasRoom;
        lock (_lock)
        {
            hasRoom = MakeRoom(place, closed);
            if (hasRoom)
                Add(place);
        }

        // Also without room: these have given their places back, and nothing else would close them.
        foreach (var other in closed)
            other.Close("Another client needs the place.");
        return hasRoom ? place : null;
    }

    private void Add(ClientPlace place)
    {
        Enter(place);
        _connections.Add(place);
        place.Number = ++_opened;
        place.Since = time.GetTimestamp();
        if (place.IsCounted)
            place.Idle = time.CreateTimer(static state => ((ClientPlace)state!).OnIdle(), place, limits.StrangerIdle, Timeout.InfiniteTimeSpan);
    }

    /// <summary>Whether there is room for one more connection, after strangers have been closed where that helps.</summary>
    private bool MakeRoom(ClientPlace place, List<ClientPlace> closed)
    {
        // Requests under way are ended only when all places of the server are taken.
        if (place.IsCounted && IsFull(place) && !(CloseLongest(other => other.IsIdleStranger && IsRelated(other, place), closed) && !IsFull(place)))
            return false;
        var total = limits.Total + (IsLoopback(place.Address) ? limits.Loopback : 0);
        return _connections.Count < total || CloseLongest(static other => other.IsStranger, closed);
    }

    private bool CloseLongest(Func<ClientPlace, bool> isChosen, List<ClientPlace> closed)
    {
        if (_connections.Where(isChosen).MinBy(static place => (place.IsServing, place.Since, place.Number)) is not { } longest)
            return false;
        Leave(longest);
        closed.Add(longest);
        return true;
    }

    /// <summary>Whether the end of one place makes room for the other.</summary>
    private bool IsRelated(ClientPlace other, ClientPlace place) =>
        _clients.GetValueOrDefault(place.Address) >= limits.PerClient ? other.Address.Equals(place.Address) : other.Prefix == place.Prefix;

    private bool IsFull(ClientPlace place) =>
        _clients.GetValueOrDefault(place.Address) >= limits.PerClient || _strangers.GetValueOrDefault(place.Prefix) >= limits.PerClient;

    private void Enter(ClientPlace place)
    {
        if (!place.IsCounted)
            return;
        _clients[place.Address] = _clients.GetValueOrDefault(place.Address) + 1;
        _strangers[place.Prefix] = _strangers.GetValueOrDefault(place.Prefix) + 1;
    }

    private void Leave(ClientPlace place)
    {
        if (place.HasLeft)
            return;
        place.HasLeft = true;
        place.Idle?.Dispose();
        _connections.Remove(place);
        if (!place.IsCounted)
            return;
        Decrease(_clients, place.Address);
        if (!place.IsProved)
            Decrease(_strangers, place.Prefix);
    }
}

/// <summary>A place that a client holds: a connection, or a request that came through a trusted proxy. A feature of the request.</summary>
/// <remarks>Thread-safe; its fields are guarded by the lock of the <see cref="ConnectionGate"/>.</remarks>
internal sealed class ClientPlace(ConnectionGate gate, IPAddress address, bool isCounted, ClientPlace? outer) : IDisposable
{
    /// <summary>Of the client.</summary>
    public IPAddress Address { get; } = address;

    /// <summary>What its strangers are counted by.</summary>
    public AddressPrefix Prefix { get; } = AddressPrefix.Of(address);

    /// <summary>Whether it counts against a client; connections of loopback and of trusted proxies do not.</summary>
    public bool IsCounted { get; } = isCounted;

    /// <summary>Closes the connection; null for a request.</summary>
    public Action<ConnectionAbortedException>? Abort { get; init; }

    /// <summary>Whether a request on it has shown a right credential. A proxy's has to be shown with each request, since they come from different clients.</summary>
    public bool IsProved { get; private set; }

    /// <summary>Whether a request is under way.</summary>
    public bool IsServing { get; private set; }

    /// <summary>The lower, the earlier the connection was opened.</summary>
    public long Number { get; set; }

    /// <summary>The timestamp at which the connection was opened, or its last request began, was proved or ended.</summary>
    public long Since { get; set; }

    /// <summary>Whether it has been given back.</summary>
    public bool HasLeft { get; set; }

    /// <summary>Ends an idle stranger; null where nothing does.</summary>
    public ITimer? Idle { get; set; }

    /// <summary>Whether it may be closed to make room. A proxy's connection is a stranger's only while it carries a stranger's request.</summary>
    public bool IsStranger => !IsProved && (IsCounted || IsServing);

    /// <summary>Whether it is closed after some time.</summary>
    public bool IsIdleStranger => IsStranger && !IsServing;

    /// <summary>A request has come.</summary>
    public void BeginRequest() => gate.Change(this, static place => (place.IsServing, place.IsProved) = (true, place.IsProved && place.IsCounted));

    /// <summary>Its answer has ended.</summary>
    public void EndRequest() => gate.Change(this, static place => place.IsServing = false);

    /// <summary>The request under way has shown a right credential.</summary>
    public void Prove()
    {
        gate.Change(this, static place => place.IsProved = true);
        outer?.Prove();
    }

    /// <summary>The idle time is over.</summary>
    public void OnIdle() => gate.OnIdle(this);

    /// <summary>Closes the connection behind a place that has been given back.</summary>
    public void Close(string reason) => Abort?.Invoke(new ConnectionAbortedException(reason));

    /// <inheritdoc/>
    public void Dispose() => gate.Close(this);
}
