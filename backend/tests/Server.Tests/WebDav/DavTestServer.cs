using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Sluice.Server.Auth;
using Sluice.Server.WebDav;
using Sluice.Testing;
using Sluice.Testing.WebDav;

namespace Sluice.Server.Tests.WebDav;

/// <summary>The verbs on a real Kestrel over a tree in memory.</summary>
internal sealed class DavTestServer : IAsyncDisposable
{
    private readonly WebApplication _app;

    private DavTestServer(WebApplication app, MemoryStore store, ManualTimeProvider time)
    {
        _app = app;
        Store = store;
        Time = time;
        Address = new Uri(app.Urls.First());
    }

    public MemoryStore Store { get; }

    public ManualTimeProvider Time { get; }

    public Uri Address { get; }

    public IServiceProvider Services => _app.Services;

    /// <summary>Starts the verbs over a tree in which all of them work.</summary>
    public static Task<DavTestServer> StartWritableAsync() => StartAsync(tree: time => new WritableStore(time));

    public static async Task<DavTestServer> StartAsync(
        Action<IServiceCollection>? services = null,
        Action<WebApplication>? before = null,
        Action<IEndpointConventionBuilder>? endpoint = null,
        DavOptions? options = null,
        Func<TimeProvider, IStore>? tree = null)
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.ConfigureKestrel(kestrel => kestrel.Listen(System.Net.IPAddress.Loopback, 0));
        var store = new MemoryStore();
        var time = new ManualTimeProvider();
        builder.Services.AddSingleton(tree?.Invoke(time) ?? store);
        builder.Services.AddSingleton<TimeProvider>(time);
        builder.Services.AddWebDav(_ => options ?? new DavOptions());
        services?.Invoke(builder.Services);

        var app = builder.Build();
        app.UseBodyLimits();
        before?.Invoke(app);
        var mapped = app.MapWebDav();
        endpoint?.Invoke(mapped);
        await app.StartAsync();
        return new DavTestServer(app, store, time);
    }

    /// <summary>Sends one request as it is written and reads the answer. Lines are given without line ends.</summary>
    public async Task<RawAnswer> SendAsync(string requestLine, params string[] headers)
    {
        await using var connection = await RawConnection.OpenAsync(Address);
        await connection.SendAsync(requestLine, headers);
        return await connection.ReadAnswerAsync(isHead: requestLine.StartsWith("HEAD ", StringComparison.Ordinal));
    }

    /// <summary>Sends one request with a body.</summary>
    public async Task<RawAnswer> SendBodyAsync(string requestLine, string body, params string[] headers)
    {
        await using var connection = await RawConnection.OpenAsync(Address);
        await connection.SendAsync(requestLine, [.. headers, $"Content-Length: {System.Text.Encoding.UTF8.GetByteCount(body)}"], body);
        return await connection.ReadAnswerAsync(isHead: false);
    }

    public Task<RawConnection> ConnectAsync() => RawConnection.OpenAsync(Address);

    public async ValueTask DisposeAsync()
    {
        // Tests cut connections and leave bodies hanging on purpose: nothing is worth waiting for.
        await _app.StopAsync(new CancellationToken(canceled: true));
        await _app.DisposeAsync();
    }
}
