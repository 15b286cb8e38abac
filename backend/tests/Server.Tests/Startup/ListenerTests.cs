using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.AspNetCore.Server.Kestrel.Transport.Sockets;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;
using Sluice.Server.Listening;
using Sluice.Server.Tests.Database;
using Xunit;

namespace Sluice.Server.Tests.Startup;

public sealed class ListenerTests : IDisposable
{
    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Listener_limits_match_the_contract()
    {
        await using var server = await RunningServer.StartAsync(_temporary);

        var kestrel = server.Services.GetRequiredService<IOptions<KestrelServerOptions>>().Value;
        Assert.Equal(32 << 10, kestrel.Limits.MaxRequestHeadersTotalSize);
        Assert.Equal(32 << 10, kestrel.Limits.MaxRequestBufferSize);
        Assert.Equal(8 << 10, server.Services.GetRequiredService<IOptions<SocketTransportOptions>>().Value.MaxReadBufferSize);
        Assert.Equal(TimeSpan.FromSeconds(10), kestrel.Limits.RequestHeadersTimeout);
        // The gate counts clients. Kestrel's limit is higher, because it still counts sockets that the gate is closing.
        Assert.Equal(1024, kestrel.Limits.MaxConcurrentConnections);
        Assert.Null(kestrel.Limits.MinResponseDataRate);
        Assert.NotNull(kestrel.Limits.MinRequestBodyDataRate);
        Assert.False(kestrel.AddServerHeader);
        Assert.Equal(64 << 10, server.Services.GetRequiredService<IOptions<SocketTransportOptions>>().Value.MaxWriteBufferSize);
        Assert.Equal(TimeSpan.FromSeconds(6), server.Services.GetRequiredService<IOptions<HostOptions>>().Value.ShutdownTimeout);
    }

    [Theory]
    [InlineData(-1, true)]
    [InlineData(0, true)]
    [InlineData(1, false)]
    public async Task Header_limit_is_exact(int beyond, bool accepted)
    {
        await using var server = await RunningServer.StartAsync(_temporary);
        const string rest = "Host: x\r\nX: ";
        var padding = new string('a', (32 << 10) - rest.Length - 2 + beyond);

        var answer = await SpeakAsync(server, $"GET /healthz HTTP/1.1\r\n{rest}{padding}\r\n\r\n");

        Assert.StartsWith(accepted ? "HTTP/1.1 200" : "HTTP/1.1 431", answer, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("api/ordinary", 64 << 10, HttpStatusCode.OK)]
    [InlineData("api/ordinary", (64 << 10) + 1, HttpStatusCode.RequestEntityTooLarge)]
    [InlineData("api/upload", 1 << 20, HttpStatusCode.OK)]
    [InlineData("api/upload", (1 << 20) + 1, HttpStatusCode.RequestEntityTooLarge)]
    public async Task Body_limit_is_exact_with_and_without_a_length(string path, int length, HttpStatusCode expected)
    {
        await using var server = await RunningServer.StartAsync(
            _temporary, new() { ["MAX_REQUEST_BODY_SIZE"] = (1 << 20).ToString(CultureInfo.InvariantCulture) }, MapBodies);

        foreach (var chunked in (bool[])[false, true])
        {
            using var request = new HttpRequestMessage(HttpMethod.Post, path) { Content = new ByteArrayContent(new byte[length]) };
            request.Headers.Authorization = RunningServer.Basic("admin", RunningServer.Password);
            request.Headers.TransferEncodingChunked = chunked;
            request.Headers.ExpectContinue = true;
            using var response = await server.Client.SendAsync(request, Token);
            Assert.Equal(expected, response.StatusCode);
        }
    }

    [Theory]
    [InlineData("FFFFFFFFFFFFFFFFF")]
    [InlineData("7FFFFFFFFFFFFFFFF")]
    [InlineData("zz")]
    public async Task Invalid_chunk_size_gets_400(string size)
    {
        await using var server = await RunningServer.StartAsync(_temporary, map: MapBodies);

        var answer = await SpeakAsync(
            server,
            $"POST /api/ordinary HTTP/1.1\r\nHost: x\r\nAuthorization: {RunningServer.Basic("admin", RunningServer.Password)}\r\nTransfer-Encoding: chunked\r\n\r\n{size}\r\nx\r\n");

        Assert.StartsWith("HTTP/1.1 400", answer, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Running_response_finishes_during_shutdown()
    {
        var started = new TaskCompletionSource();
        var finish = new TaskCompletionSource();
        await using var server = await RunningServer.StartAsync(_temporary, map: app => app.MapGet("/api/slow", async (HttpContext context) =>
        {
            await context.Response.WriteAsync("first ", Token);
            await context.Response.Body.FlushAsync(Token);
            started.SetResult();
            await finish.Task;
            await context.Response.WriteAsync("last", Token);
        }));
        server.Client.DefaultRequestHeaders.Authorization = RunningServer.Basic("admin", RunningServer.Password);
        var answer = server.Client.GetStringAsync("api/slow", Token);
        await started.Task;

        var stopping = server.App.StopAsync(Token);
        await RefusesConnectionsAsync(server);
        finish.SetResult();

        Assert.Equal("first last", await answer);
        await stopping;
    }

    [Fact]
    public async Task Endless_response_is_reset_at_the_shutdown_timeout()
    {
        var started = new TaskCompletionSource();
        await using var server = await RunningServer.StartAsync(_temporary, map: app => app.MapGet("/api/endless", async (HttpContext context) =>
        {
            context.Response.ContentLength = 1 << 20;
            await context.Response.WriteAsync("first ", Token);
            await context.Response.Body.FlushAsync(Token);
            started.SetResult();
            await Task.Delay(Timeout.InfiniteTimeSpan, TimeProvider.System, context.RequestAborted);
        }));
        server.Client.DefaultRequestHeaders.Authorization = RunningServer.Basic("admin", RunningServer.Password);
        var answer = server.Client.GetStringAsync("api/endless", Token);
        await started.Task;

        await server.App.StopAsync(Token);

        await Assert.ThrowsAsync<HttpRequestException>(() => answer);
    }

    private static void MapBodies(WebApplication app)
    {
        app.MapPost("/api/ordinary", (HttpContext context) => context.Request.Body.CopyToAsync(Stream.Null, Token));
        app.MapPost("/api/upload", (HttpContext context) =>
        {
            context.AllowUpload();
            return context.Request.Body.CopyToAsync(Stream.Null, Token);
        });
    }

    private static async Task<string> SpeakAsync(RunningServer server, string request)
    {
        using var client = new TcpClient();
        await client.ConnectAsync(IPAddress.Loopback, server.Address.Port, Token);
        await client.GetStream().WriteAsync(Encoding.ASCII.GetBytes(request), Token);
        using var reader = new StreamReader(client.GetStream());
        return await reader.ReadLineAsync(Token) ?? "";
    }

    private static async Task RefusesConnectionsAsync(RunningServer server)
    {
        while (true)
        {
            using var client = new TcpClient();
            try
            {
                await client.ConnectAsync(IPAddress.Loopback, server.Address.Port, Token);
            }
            catch (SocketException)
            {
                return;
            }
        }
    }
}
