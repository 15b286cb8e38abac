using System.Net;
using Microsoft.AspNetCore.Connections;

namespace Sluice.Server.Listening;

/// <summary>Maximum numbers of connections.</summary>
/// <param name="Loopback">Additional connections from this machine, mainly for the health check.</param>
/// <param name="PerClient">Maximum per address, and per <see cref="AddressPrefix"/> for strangers.</param>
/// <param name="StrangerIdle">Idle time after which a stranger's connection is closed.</param>
internal sealed record ConnectionLimits(int Total, int Loopback, int PerClient, TimeSpan StrangerIdle);

/// <summary>
/// Gives each connection a place, so that no client can occupy all places (DAV-77, S25). A connection belongs to a stranger until one of its requests has a
/// valid credential (<see cref="ProvedRequests"/>). Strangers are counted by address prefix, because one machine can use every address of its /64.
/// Authenticated clients are counted by address, because the devices in a home share a prefix. If all places are taken, the longest idle stranger is closed.
/// </summary>
/// <remarks>Loopback and trusted proxies may open any number of connections, which may idle for any time. A client behind a proxy is limited by its concurrent
/// requests. Thread-safe: the lock guards all counts and the fields of every <see cref="ClientPlace"/>. Connections are closed outside the lock.</remarks>
internal sealed class ConnectionGate(ConnectionLimits limits, TimeProvider time, Func<IPAddress, bool>? isTrusted = null)
{
    /// <summary>Retry-After for a client behind a proxy, in seconds.</summary>
    public const string RetryAfterSeconds = "5";

    private readonly Lock _lock = new();
    private readonly Dictionary<IPAddress, int> _clients = [];
    private readonly Dictionary<AddressPrefix, int> _strangers = [];
    private readonly HashSet<ClientPlace> _connections = [];
    private long _opened;

    /// <summary>Adds the limits to a connection handler.</summary>
    public ConnectionDelegate Guard(ConnectionDelegate next) => async connection =>
    {
        var address = (connection.RemoteEndPoint as IPEndPoint)?.Address ?? IPAddress.Loopback;
        using var place = Open(TrustedProxies.Plain(address), connection.Abort);
        if (place is null)
        {
            // Close a connection from a proxy or this machine cleanly instead of resetting it.
            if (!IsExempt(TrustedProxies.Plain(address)))
                connection.Abort();
            return;
        }

        connection.Features.Set(place);
        await next(connection);
    };

    /// <summary>Serves a request; its connection is not idle meanwhile. A forwarded request takes a place for the client behind the proxy.</summary>
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

    /// <summary>Closes a stranger's connection after its idle time.</summary>
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

    /// <summary>Changes a place under the lock.</summary>
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

    /// <summary>Releases a place. Further calls do nothing.</summary>
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

        // Close these even if there is still no room, because they have lost their places and nothing else would close them.
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

    /// <summary>Returns whether another connection fits, closing strangers if necessary.</summary>
    private bool MakeRoom(ClientPlace place, List<ClientPlace> closed)
    {
        // If only a client's own limit is reached, close only idle connections. Requests in progress are aborted only if the whole server is full.
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

    /// <summary>Whether releasing the other place would make room for this one.</summary>
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

/// <summary>The place of a connection, or of a request forwarded by a trusted proxy. Available as a request feature.</summary>
/// <remarks>Thread-safe, because the lock of <see cref="ConnectionGate"/> guards its fields.</remarks>
internal sealed class ClientPlace(ConnectionGate gate, IPAddress address, bool isCounted, ClientPlace? outer) : IDisposable
{
    public IPAddress Address { get; } = address;

    /// <summary>The prefix by which the client is counted while it is a stranger.</summary>
    public AddressPrefix Prefix { get; } = AddressPrefix.Of(address);

    /// <summary>Whether the place counts toward the limits; false for loopback and trusted proxies.</summary>
    public bool IsCounted { get; } = isCounted;

    /// <summary>Closes the connection; null for a forwarded request.</summary>
    public Action<ConnectionAbortedException>? Abort { get; init; }

    /// <summary>Whether a request has presented a valid credential. On a proxy's connection this applies to each request, because clients differ.</summary>
    public bool IsProved { get; private set; }

    public bool IsServing { get; private set; }

    /// <summary>Number that increases with the time of opening.</summary>
    public long Number { get; set; }

    /// <summary>Timestamp of the last event: the connection was opened, or a request began, was authenticated, or ended.</summary>
    public long Since { get; set; }

    public bool HasLeft { get; set; }

    /// <summary>Timer that closes an idle stranger; null if none is needed.</summary>
    public ITimer? Idle { get; set; }

    /// <summary>Whether the connection may be closed to make room. For a proxy's connection, true only during a stranger's request.</summary>
    public bool IsStranger => !IsProved && (IsCounted || IsServing);

    public bool IsIdleStranger => IsStranger && !IsServing;

    public void BeginRequest() => gate.Change(this, static place => (place.IsServing, place.IsProved) = (true, place.IsProved && place.IsCounted));

    public void EndRequest() => gate.Change(this, static place => place.IsServing = false);

    /// <summary>Marks the sender of the current request as authenticated.</summary>
    public void Prove()
    {
        gate.Change(this, static place => place.IsProved = true);
        outer?.Prove();
    }

    public void OnIdle() => gate.OnIdle(this);

    /// <summary>Closes the connection after its place was released.</summary>
    public void Close(string reason) => Abort?.Invoke(new ConnectionAbortedException(reason));

    public void Dispose() => gate.Close(this);
}
