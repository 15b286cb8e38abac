using System.Net;
using System.Net.Sockets;
using System.Text;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Server.Kestrel.Transport.Sockets;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Startup;
using Xunit;

namespace Sluice.Server.Tests.Listening;

/// <summary>ConnectionGate serves the next client although strangers use all connections (DAV-77, S25).</summary>
public sealed class StrangerPlaceTests : IDisposable
{
    private const int PerAddress = 64;

    private readonly TemporaryFolder _temporary = new();
    private readonly List<Socket> _sockets = [];

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _sockets.ForEach(socket => socket.Dispose());
        _temporary.Dispose();
    }

    [Theory]
    [InlineData(1, 8)]
    [InlineData(9, 1)]
    public async Task Idle_strangers_never_lock_out_a_real_client(int prefixes, int addresses)
    {
        await using var server = await RunningServer.StartAsync(_temporary, replace: services => services.AddSingleton<IConnectionListenerFactory, RenamedClients>());
        var connects = 0;
        using var owner = new HttpClient(new SocketsHttpHandler
        {
            ConnectCallback = async (_, _) =>
            {
                connects++;
                return new NetworkStream(await ConnectAsync(server, "127.0.100.1"), ownsSocket: true);
            },
        });
        await IdleAsync(server, prefixes, addresses);

        // The client logs in, and its connection stays open when the same number of strangers connects again.
        for (var i = 0; i < 2; i++)
        {
            using var request = new HttpRequestMessage(HttpMethod.Get, new Uri(server.Address, "/README"));
            request.Headers.Authorization = RunningServer.Basic("admin", RunningServer.Password);
            using var answer = await owner.SendAsync(request, Token);
            Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
            await IdleAsync(server, prefixes, addresses);
        }

        Assert.Equal(1, connects);
        // The container's health check connects from loopback.
        using var healthy = await server.Client.GetAsync(new Uri(server.Address, "/healthz"), Token);
        Assert.Equal(HttpStatusCode.OK, healthy.StatusCode);
    }

    /// <summary>Opens as many connections as each address may have, each with one response.</summary>
    private async Task IdleAsync(RunningServer server, int prefixes, int addresses)
    {
        for (var i = 0; i < prefixes * addresses * PerAddress; i++)
        {
            var client = i / PerAddress;
            var socket = await ConnectAsync(server, $"127.0.{(client / addresses) + 1}.{(client % addresses) + 1}");
            _sockets.Add(socket);
            await socket.SendAsync(Encoding.ASCII.GetBytes("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"), Token);
            Assert.True(await socket.ReceiveAsync(new byte[1024], Token) > 0);
        }
    }

    private static async Task<Socket> ConnectAsync(RunningServer server, string from)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Bind(new IPEndPoint(IPAddress.Parse(from), 0));
        await socket.ConnectAsync("127.0.0.1", server.Address.Port, Token);
        return socket;
    }

    /// <summary>The sockets of Kestrel, which map a local client address 127.0.p.h to the remote address 2001:db8:0:p::h.</summary>
    private sealed class RenamedClients(IOptions<SocketTransportOptions> options, ILoggerFactory loggers) : IConnectionListenerFactory
    {
        private readonly SocketTransportFactory _sockets = new(options, loggers);

        public async ValueTask<IConnectionListener> BindAsync(EndPoint endpoint, CancellationToken cancellationToken = default) =>
            new Listener(await _sockets.BindAsync(endpoint, cancellationToken));

        private sealed class Listener(IConnectionListener inner) : IConnectionListener
        {
            public EndPoint EndPoint => inner.EndPoint;

            public async ValueTask<ConnectionContext?> AcceptAsync(CancellationToken cancellationToken = default)
            {
                var connection = await inner.AcceptAsync(cancellationToken);
                if (connection?.RemoteEndPoint is IPEndPoint { Address: var address } && address.MapToIPv4().GetAddressBytes() is [127, 0, not 0 and var prefix, var host])
                    connection.RemoteEndPoint = new IPEndPoint(IPAddress.Parse($"2001:db8:0:{prefix:x}::{host:x}"), 1);
                return connection;
            }

            public ValueTask UnbindAsync(CancellationToken cancellationToken = default) => inner.UnbindAsync(cancellationToken);

            public ValueTask DisposeAsync() => inner.DisposeAsync();
        }
    }
}
