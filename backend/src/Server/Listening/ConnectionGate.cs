using System.Net;
using Microsoft.AspNetCore.Connections;

namespace Sluice.Server.Listening;

/// <summary>
/// Lets one address hold a limited number of connections, so that one client cannot take all of them (S25). Loopback and trusted
/// proxies are exempt; behind a proxy, whose connections are shared by clients, the concurrent requests of a client count instead.
/// </summary>
/// <param name="perAddress">The limit.</param>
/// <param name="isExempt">Whether an address may hold any number; null for loopback alone.</param>
/// <remarks>Thread-safe.</remarks>
internal sealed class ConnectionGate(int perAddress, Func<IPAddress, bool>? isExempt = null)
{
    /// <summary>The Retry-After of a client behind a proxy, in seconds.</summary>
    public const string RetryAfterSeconds = "5";

    private readonly Lock _lock = new();
    private readonly Dictionary<IPAddress, int> _open = [];

    /// <summary>Wraps the handler of a connection.</summary>
    public ConnectionDelegate Guard(ConnectionDelegate next) => connection =>
        RunAsync((connection.RemoteEndPoint as IPEndPoint)?.Address, () => next(connection), connection.Abort);

    /// <summary>Serves a request of a client behind a trusted proxy.</summary>
    public Task GuardAsync(HttpContext context, RequestDelegate next) => RunAsync(context.Connection.RemoteIpAddress, () => next(context), () =>
    {
        context.Response.StatusCode = StatusCodes.Status429TooManyRequests;
        context.Response.Headers.RetryAfter = RetryAfterSeconds;
    });

    /// <summary>Counts one more connection, or refuses it.</summary>
    public bool TryEnter(IPAddress address)
    {
        address = TrustedProxies.Plain(address);
        lock (_lock)
        {
            var open = _open.GetValueOrDefault(address);
            if (open >= perAddress)
                return false;

            _open[address] = open + 1;
            return true;
        }
    }

    /// <summary>Counts one less.</summary>
    public void Leave(IPAddress address)
    {
        address = TrustedProxies.Plain(address);
        lock (_lock)
        {
            if (--_open[address] == 0)
                _open.Remove(address);
        }
    }

    private async Task RunAsync(IPAddress? address, Func<Task> serve, Action refuse)
    {
        if (address is null || IsExempt(address))
        {
            await serve();
            return;
        }

        if (!TryEnter(address))
        {
            refuse();
            return;
        }

        try
        {
            await serve();
        }
        finally
        {
            Leave(address);
        }
    }

    private bool IsExempt(IPAddress address) => IPAddress.IsLoopback(TrustedProxies.Plain(address)) || isExempt?.Invoke(address) == true;
}
