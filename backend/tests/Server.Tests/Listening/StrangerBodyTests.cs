using System.Net;
using System.Text;
using System.Threading.Channels;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Auth;
using Sluice.Server.Listening;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Startup;
using Xunit;

namespace Sluice.Server.Tests.Listening;

/// <summary>No endpoint accepts a longer body from a client without credentials than the listener does (S26).</summary>
public sealed class StrangerBodyTests : IDisposable
{
    private const long Ordinary = 64 << 10;

    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Every_route_keeps_the_default_body_limit_for_strangers()
    {
        var limits = Channel.CreateUnbounded<long?>();
        await using var server = await RunningServer.StartAsync(_temporary, replace: services => services.AddSingleton<IStartupFilter>(new LimitNotes(limits)));
        var routes = server.Services.GetRequiredService<EndpointDataSource>().Endpoints.OfType<RouteEndpoint>()
            .SelectMany(route => (route.Metadata.GetMetadata<HttpMethodMetadata>()?.HttpMethods ?? ["PUT"]).Select(method => (
                Method: method, Route: route, Path: "/" + string.Join('/', route.RoutePattern.PathSegments.Select(segment => string.Concat(segment.Parts.Select(TextOf)))))))
            .ToList();
        Assert.True(routes.Count > 60);
        Assert.True(routes.Count(route => route.Route.Metadata.GetMetadata<OpenEndpoint>() is not null) > 5);

        foreach (var (method, _, path) in routes)
        {
            foreach (var type in (string[])["application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
            {
                using var request = new HttpRequestMessage(new HttpMethod(method), new Uri(server.Address, path)) { Content = new ByteArrayContent(Longer()) };
                request.Content.Headers.TryAddWithoutValidation("Content-Type", type);
                request.Headers.TransferEncodingChunked = true;
                using var answer = await server.Client.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, Token);
                var limit = await limits.Reader.ReadAsync(Token);
                Assert.True(limit <= Ordinary, $"{method} {path} {type}: {limit}");
            }
        }
    }

    [Fact]
    public async Task Larger_body_limit_needs_a_login()
    {
        var limits = Channel.CreateUnbounded<long?>();
        await using var server = await RunningServer.StartAsync(_temporary, replace: services => services.AddSingleton<IStartupFilter>(new LimitNotes(limits)));
        var (_, key) = await server.Services.GetRequiredService<AdminStore>().MakeKeyAsync("test", hasFullAccess: true, Token);

        Assert.Equal((HttpStatusCode.RequestEntityTooLarge, 8 << 10), await SendAsync("/api/session", null));
        Assert.Equal((HttpStatusCode.Unauthorized, Ordinary), await SendAsync("/api/account", null));
        Assert.Equal((HttpStatusCode.BadRequest, 1 << 20), await SendAsync("/api/account", key));

        async Task<(HttpStatusCode, long?)> SendAsync(string path, string? name)
        {
            using var request = new HttpRequestMessage(path == "/api/session" ? HttpMethod.Post : HttpMethod.Put, new Uri(server.Address, path)) { Content = new ByteArrayContent(Longer()) };
            request.Content.Headers.TryAddWithoutValidation("Content-Type", "application/json");
            if (name is not null)
                request.Headers.Add("X-Api-Key", name);
            using var answer = await server.Client.SendAsync(request, Token);
            return (answer.StatusCode, await limits.Reader.ReadAsync(Token));
        }
    }

    [Fact]
    public void Body_limit_can_be_raised_only_after_proof()
    {
        var body = new LimitedBody(Stream.Null, null, Ordinary);
        Assert.Throws<InvalidOperationException>(() => body.Allow(Ordinary + 1));
        Assert.Throws<InvalidOperationException>(() => body.MaxRequestBodySize = null);
        body.MaxRequestBodySize = Ordinary;

        body.Prove();
        body.MaxRequestBodySize = Ordinary + 1;
        Assert.Equal(Ordinary + 1, body.MaxRequestBodySize);
    }

    /// <summary>The start of a JSON string, one byte longer than allowed.</summary>
    private static byte[] Longer() => Encoding.ASCII.GetBytes("{\"user\":\"".PadRight((int)Ordinary + 1, 'x'));

    private static string TextOf(Microsoft.AspNetCore.Routing.Patterns.RoutePatternPart part) =>
        part is Microsoft.AspNetCore.Routing.Patterns.RoutePatternLiteralPart literal ? literal.Content : "1";

    /// <summary>Records the limit of each request at its end.</summary>
    private sealed class LimitNotes(Channel<long?> limits) : IStartupFilter
    {
        public Action<IApplicationBuilder> Configure(Action<IApplicationBuilder> next) => app =>
        {
            app.Use(async (context, rest) =>
            {
                try
                {
                    await rest(context);
                }
                finally
                {
                    limits.Writer.TryWrite(context.Features.Get<IHttpMaxRequestBodySizeFeature>()?.MaxRequestBodySize);
                }
            });
            next(app);
        };
    }
}
