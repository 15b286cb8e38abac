using System.Net;
using System.Net.Sockets;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Server.Kestrel.Transport.Sockets;
using Sluice.Server.Listening;
using Sluice.Server.Settings;
using Xunit;

namespace Sluice.Server.Tests.Listening;

public sealed class ReservedPortTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Reserved_port_refuses_connections_until_it_listens()
    {
        using var port = Make("127.0.0.1", 0);
        port.Reserve();
        using var early = new TcpClient();
        await Assert.ThrowsAsync<SocketException>(() => early.ConnectAsync(IPAddress.Loopback, port.Number, Token).AsTask());

        using var taken = port.Take(new IPEndPoint(IPAddress.Loopback, 0));
        taken.Listen();

        Assert.Equal(port.Number, ((IPEndPoint)taken.LocalEndPoint!).Port);
        using var late = new TcpClient();
        await late.ConnectAsync(IPAddress.Loopback, port.Number, Token);
    }

    [Theory]
    [InlineData("127.0.0.1")]
    [InlineData("*")]
    public void Port_in_use_throws_the_same_exception_as_in_Kestrel(string address)
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        using var port = Make(address, ((IPEndPoint)listener.LocalEndpoint).Port);

        Assert.IsType<AddressInUseException>(Assert.Throws<IOException>(port.Reserve).InnerException);
    }

    [Fact]
    public void Other_address_gets_its_own_socket()
    {
        using var port = Make("127.0.0.1", 0);
        port.Reserve();

        using var other = port.Take(new IPEndPoint(IPAddress.Any, 0));
        using var own = port.Take(new IPEndPoint(IPAddress.Loopback, 0));

        Assert.NotEqual(port.Number, ((IPEndPoint)other.LocalEndPoint!).Port);
        Assert.Equal(port.Number, ((IPEndPoint)own.LocalEndPoint!).Port);
    }

    private static ReservedPort Make(string address, int port) => new(
        ProcessOptions.Read(new ProcessEnvironment(new Dictionary<string, string> { ["BIND_ADDRESS"] = address, ["PORT"] = $"{port}" })),
        SocketTransportOptions.CreateDefaultBoundListenSocket);
}
