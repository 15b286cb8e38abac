using System.Net;
using System.Net.Sockets;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Wire;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>Socket options of a connection, read back from the system.</summary>
public sealed class SocketOptionTests
{
    // IPPROTO_TCP and TCP_USER_TIMEOUT of linux/tcp.h.
    private const int TcpLevel = 6;
    private const int UserTimeout = 18;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task F10_Socket_has_15_second_TCP_user_timeout_and_keep_alive(bool isOfTheSecondAddress)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "TCP_USER_TIMEOUT is an option of Linux");
        await using var server = new ScriptedServer(connection =>
        {
            connection.Send("200 hello\r\n"u8);
            connection.ReadCommand();
        });
        var provider = new ProviderOptions { Name = "wire", Host = "news.example.com", Port = server.Port, UseTls = false };
        IPAddress[] found = isOfTheSecondAddress ? [IPAddress.Parse("127.0.0.2"), IPAddress.Loopback] : [IPAddress.Loopback];
        var dialer = new NntpDialer(provider, new NntpOptions(), new NntpMeter(TimeProvider.System), TimeProvider.System, new Addresses(found));

        await using var transport = await dialer.DialAsync(Token);

        var milliseconds = new byte[sizeof(int)];
        Assert.Equal(sizeof(int), transport.Socket.GetRawSocketOption(TcpLevel, UserTimeout, milliseconds));
        Assert.Equal(15_000, BitConverter.ToInt32(milliseconds));
        Assert.NotEqual(0, (int)transport.Socket.GetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive)!);
        Assert.True(transport.Socket.NoDelay);
    }

    private sealed class Addresses(params IPAddress[] found) : INameResolver
    {
        public ValueTask<IReadOnlyList<IPAddress>> ResolveAsync(string host, CancellationToken cancellationToken) => ValueTask.FromResult<IReadOnlyList<IPAddress>>(found);
    }
}
