using System.Net;
using System.Net.Sockets;
using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nntp.Health;
using Sluice.Usenet.Nntp.Wire;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>Shared resources for the pools of a test.</summary>
internal static class TestResources
{
    /// <summary>An account without a data cap. All models share it, because .NET keeps each meter until it is disposed, and models are made by the 100,000.</summary>
    public static QuotaGate NoQuota { get; } = new(null, new ProviderTraffic(new NntpMeter(TimeProvider.System)));

    /// <param name="options">Deadlines and limits.</param>
    /// <param name="time">Clock.</param>
    /// <param name="limiter">Permits; null to configure them later.</param>
    /// <param name="dial">Opens connections; null for the real dialer.</param>
    public static SharedResources Of(
        NntpOptions options, TimeProvider time, GlobalOperationLimiter? limiter = null, Func<ProviderOptions, CancellationToken, Task<NntpTransport>>? dial = null) =>
        new(options, limiter ?? new GlobalOperationLimiter(time: time), new HandshakeLimit(1, time), new NntpMeter(time), new ProviderMemory(time), time, NullLogger.Instance, names: null, dial);

    /// <summary>Connects to a server that neither greets nor asks for a login.</summary>
    public static async Task<NntpTransport> ConnectAsync(ProviderOptions account, CancellationToken cancellationToken)
    {
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
        await socket.ConnectAsync(IPAddress.Loopback, account.Port, cancellationToken);
        return new NntpTransport(socket, new NetworkStream(socket), new NntpOptions().ReceiveBufferBytes);
    }
}
