using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Sluice.Server.Listening;
using Sluice.Server.WebDav;
using Sluice.Server.WebDav.Handlers;
using Sluice.Testing;
using Sluice.Testing.WebDav;
using Sluice.Usenet.Streams.Memory;

namespace Sluice.Server.Tests.WebDav;

/// <summary>The WebDAV verbs on a real Kestrel over a tree in memory.</summary>
internal sealed class DavTestServer : IAsyncDisposable
{
    private readonly WebApplication _app;
    private readonly bool _isDirect;
    private readonly BlockPool _blocks = new(plentyBytes: 1 << 30);

    private DavTestServer(WebApplication app, MemoryStore store, ManualTimeProvider time, bool isDirect)
    {
        (_app, _isDirect) = (app, isDirect);
        Store = store;
        Time = time;
        Address = new Uri(app.Urls.First());
    }

    public MemoryStore Store { get; }

    public ManualTimeProvider Time { get; }

    public Uri Address { get; }

    public IServiceProvider Services => _app.Services;

    /// <summary>Number of blocks currently lent by streams.</summary>
    public int LentBlocks => _blocks.Rented;

    /// <summary>Starts the server over a tree that supports every verb.</summary>
    public static Task<DavTestServer> StartWritableAsync() => StartAsync(tree: time => new WritableStore(time));

    /// <param name="services">Replaces services.</param>
    /// <param name="before">Adds middleware in front of the verbs.</param>
    /// <param name="endpoint">Configures the endpoint.</param>
    /// <param name="options">Limits; null for the defaults.</param>
    /// <param name="tree">The tree; null for one in memory.</param>
    /// <param name="isDirect">Whether connections send blocks themselves, like those without TLS, or through Kestrel's pipe.</param>
    public static async Task<DavTestServer> StartAsync(
        Action<IServiceCollection>? services = null,
        Action<WebApplication>? before = null,
        Action<IEndpointConventionBuilder>? endpoint = null,
        DavOptions? options = null,
        Func<TimeProvider, IStore>? tree = null,
        bool isDirect = true)
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.ConfigureKestrel(kestrel => kestrel.Listen(System.Net.IPAddress.Loopback, 0, listener =>
        {
            if (isDirect)
                listener.Use(SocketOutput.Serve);
        }));
        var store = new MemoryStore();
        var time = new ManualTimeProvider();
        builder.Services.AddSingleton(tree?.Invoke(time) ?? store);
        builder.Services.AddSingleton<TimeProvider>(time);
        builder.Services.AddWebDav(_ => options ?? new DavOptions());
        services?.Invoke(builder.Services);

        var app = builder.Build();
        app.UseBodyLimits();
        // This server has no logins, so every request counts as authenticated.
        app.Use((http, next) =>
        {
            http.Prove();
            return next(http);
        });
        before?.Invoke(app);
        var mapped = app.MapWebDav();
        endpoint?.Invoke(mapped);
        await app.StartAsync();
        return new DavTestServer(app, store, time, isDirect);
    }

    /// <summary>Returns the stream as files of this server do: it lends its bytes if connections accept them.</summary>
    public Stream Served(Stream stream) => _isDirect ? new LendingStream(stream, _blocks) : stream;

    /// <summary>Sends one request unchanged and reads the response. Lines are given without line ends.</summary>
    public async Task<RawAnswer> SendAsync(string requestLine, params string[] headers)
    {
        await using var connection = await RawConnection.OpenAsync(Address);
        await connection.SendAsync(requestLine, headers);
        return await connection.ReadAnswerAsync(isHead: requestLine.StartsWith("HEAD ", StringComparison.Ordinal));
    }

    /// <summary>Sends one request with a body and reads the response.</summary>
    public async Task<RawAnswer> SendBodyAsync(string requestLine, string body, params string[] headers)
    {
        await using var connection = await RawConnection.OpenAsync(Address);
        await connection.SendAsync(requestLine, [.. headers, $"Content-Length: {System.Text.Encoding.UTF8.GetByteCount(body)}"], body);
        return await connection.ReadAnswerAsync(isHead: false);
    }

    public Task<RawConnection> ConnectAsync() => RawConnection.OpenAsync(Address);

    /// <summary>Stops the server gracefully, like a process that is asked to end.</summary>
    public Task StopAsync() => _app.StopAsync(CancellationToken.None);

    public async ValueTask DisposeAsync()
    {
        // Tests leave bodies unfinished on purpose, so the stop waits for nothing.
        await _app.StopAsync(new CancellationToken(canceled: true));
        await _app.DisposeAsync();
    }
}
