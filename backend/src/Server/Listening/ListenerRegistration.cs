using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.AspNetCore.Server.Kestrel.Https;
using Microsoft.AspNetCore.Server.Kestrel.Transport.Sockets;
using Sluice.Server.Settings;

namespace Sluice.Server.Listening;

/// <summary>Configures the listener and its limits for unauthenticated clients (DAV-75, DAV-77, S25, S26).</summary>
internal static class ListenerRegistration
{
    // Higher than the total below, because Kestrel counts a closed connection until its handler ends.
    private const int MaxSockets = 1024;
    private const int MaxHeaderBytes = 32 << 10;

    // Unread request bytes per connection, in addition to the part of a stranger's body that an endpoint buffers (S26).
    private const int ReceiveBufferBytes = 8 << 10;

    // Unsent response bytes per connection. Small, because bytes still buffered when the client seeks were downloaded in vain.
    private const int SendBufferBytes = 64 << 10;

    private static readonly ConnectionLimits Places = new(Total: 512, Loopback: 8, PerClient: 64, StrangerIdle: TimeSpan.FromSeconds(15));
    private static readonly TimeSpan HeadersTimeout = TimeSpan.FromSeconds(10);

    // docker stop kills the process after 10 s. With one second each to abort connections and close the rest, it ends after 8 s.
    private static readonly TimeSpan DrainTime = TimeSpan.FromSeconds(6);

    public static WebApplicationBuilder AddListener(this WebApplicationBuilder builder, ProcessOptions process)
    {
        builder.WebHost.UseKestrelCore().UseKestrelHttpsConfiguration().ConfigureKestrel(kestrel => Configure(kestrel, process));
        builder.Services
            .AddSingleton<TrustedProxies>()
            .AddSingleton(services => new ConnectionGate(Places, services.GetRequiredService<TimeProvider>(), services.GetRequiredService<TrustedProxies>().Contains))
            .AddSingleton<IMemoryPoolFactory<byte>, SendBlockPoolFactory>()
            .AddSingleton(_ => new ReservedPort(process, CreateSocket))
            .AddOptions<SocketTransportOptions>()
            .Configure<ReservedPort>((sockets, port) =>
            {
                sockets.MaxReadBufferSize = ReceiveBufferBytes;
                sockets.MaxWriteBufferSize = SendBufferBytes;
                sockets.CreateBoundListenSocket = port.Take;
            })
            .Services
            .Configure<HostOptions>(host =>
            {
                // Running responses may finish within this time; then they are reset (DAV-76). Workers stop in parallel.
                host.ShutdownTimeout = DrainTime;
                host.ServicesStopConcurrently = true;
            });
        return builder;
    }

    private static void Configure(KestrelServerOptions kestrel, ProcessOptions process)
    {
        kestrel.AddServerHeader = false;
        kestrel.Limits.MaxConcurrentConnections = MaxSockets;
        kestrel.Limits.MaxRequestHeadersTotalSize = MaxHeaderBytes;
        kestrel.Limits.MaxRequestLineSize = MaxHeaderBytes;
        // TLS adds a second buffer of this size, which must hold all the headers.
        kestrel.Limits.MaxRequestBufferSize = MaxHeaderBytes;
        kestrel.Limits.RequestHeadersTimeout = HeadersTimeout;
        // Unlimited here, because LimitedBody enforces the limit.
        kestrel.Limits.MaxRequestBodySize = null;
        // Kestrel's minimum rate would disconnect a paused player (DAV-75). Other responses have an AnswerDeadline.
        kestrel.Limits.MinResponseDataRate = null;

        var gate = kestrel.ApplicationServices.GetRequiredService<ConnectionGate>();
        void Listen(ListenOptions listener)
        {
            listener.Protocols = HttpProtocols.Http1;
            listener.Use(gate.Guard);
            if (process is { TlsCertFile: { } certificateFile, TlsKeyFile: { } keyFile })
            {
                var logger = kestrel.ApplicationServices.GetRequiredService<ILogger<TlsCertificate>>();
                var certificate = new TlsCertificate(certificateFile, keyFile, logger);
                listener.UseHttps(new TlsHandshakeCallbackOptions
                {
                    OnConnection = _ => ValueTask.FromResult(new SslServerAuthenticationOptions { ServerCertificateContext = certificate.Current() }),
                });
            }
            else
            {
                listener.Use(SocketOutput.Serve);
            }
        }

        if (process.BindAddress is { } address)
            kestrel.Listen(address, process.Port, Listen);
        else
            kestrel.ListenAnyIP(process.Port, Listen);
    }

    /// <summary>Creates the listening socket. Accepted sockets inherit keep-alive, which detects peers that disappeared (DAV-75).</summary>
    private static Socket CreateSocket(EndPoint endPoint)
    {
        var socket = SocketTransportOptions.CreateDefaultBoundListenSocket(endPoint);
        if (endPoint is IPEndPoint)
        {
            socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive, true);
            socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveTime, 60);
            socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveInterval, 15);
            socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveRetryCount, 4);
            SocketOutput.BoundUnsent(socket);
        }

        return socket;
    }
}
