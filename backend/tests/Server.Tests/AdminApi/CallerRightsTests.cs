using System.Net;
using System.Text;
using Microsoft.AspNetCore.Http.Metadata;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.AdminApi;
using Sluice.Server.Auth;
using Sluice.Server.Tests.Auth;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Startup;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>Every operation of the route table with every kind of caller, and with a body that no endpoint can read (ADM-2, ADM-90, S5).</summary>
public sealed class CallerRightsTests : IDisposable
{
    /// <summary>Statuses for an authorized caller, if not 200 for a GET and 400 for an unreadable body.</summary>
    private static readonly Dictionary<string, HttpStatusCode> Answers = new()
    {
        ["GET events"] = HttpStatusCode.BadRequest,
        ["GET no/such"] = HttpStatusCode.NotFound,
        ["PATCH no/such"] = HttpStatusCode.NotFound,
        ["DELETE session"] = HttpStatusCode.NoContent,
        ["POST queue/resume"] = HttpStatusCode.OK,
        ["GET rescue"] = HttpStatusCode.NotFound,
        ["POST backups"] = HttpStatusCode.Accepted,
        // The password of this server comes from its environment.
        ["POST settings/webdav-password"] = HttpStatusCode.Conflict,
        // There is no old server in its folder.
        ["POST setup/import"] = HttpStatusCode.Conflict,
    };

    private const string NoId = "99";

    private readonly TemporaryFolder _temporary = new();
    private readonly ManualTimeProvider _time = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Every_operation_checks_the_caller_before_the_request()
    {
        await using var server = await RunningServer.StartAsync(
            _temporary, new() { ["SLUICE_ADMIN_PASSWORD"] = QuickHash.Of("correct-horse-battery") }, replace: services => services.AddSingleton<TimeProvider>(_time));
        var store = server.Services.GetRequiredService<AdminStore>();
        var (_, full) = await store.MakeKeyAsync("full", hasFullAccess: true, Token);
        var (_, read) = await store.MakeKeyAsync("read", hasFullAccess: false, Token);
        var here = server.Address.GetLeftPart(UriPartial.Authority);
        var operations = Operations(server);
        Assert.True(operations.Count > 60, $"{operations.Count} operations");

        foreach (var operation in operations)
        {
            // Advances the clock, because the eleventh wrong key within a minute would be throttled.
            _time.Advance(TimeSpan.FromMinutes(1));
            var (right, changes) = (operation.RightAnswer, operation.Method != "GET");
            await ExpectAsync("no credential", operation.IsOpen ? right : HttpStatusCode.Unauthorized);
            await ExpectAsync("a wrong key", operation.IsOpen ? right : HttpStatusCode.Unauthorized, ("X-Api-Key", "no-such-key"));
            await ExpectAsync("the key of the SABnzbd API", operation.IsOpen ? right : HttpStatusCode.Unauthorized, ("X-Api-Key", RunningServer.ApiKey));
            await ExpectAsync("a session that has ended", operation.IsOpen ? right : HttpStatusCode.Unauthorized, ("Cookie", $"{AdminDoor.CookieOf(store)}=none"));
            await ExpectAsync("a full key", right, ("X-Api-Key", full));
            await ExpectAsync("a reading key", changes ? HttpStatusCode.Forbidden : right, ("X-Api-Key", read));
            await ExpectAsync("a session", right, await SessionAsync(), ("X-Csrf", "1"), ("Origin", here));
            await ExpectAsync("a session without its header", changes ? HttpStatusCode.Forbidden : right, await SessionAsync(), ("Origin", here));
            await ExpectAsync("a session of another page", changes ? HttpStatusCode.Forbidden : right, await SessionAsync(), ("X-Csrf", "1"), ("Origin", "http://evil.example"));

            async Task ExpectAsync(string caller, HttpStatusCode expected, params (string Name, string Value)[] headers)
            {
                using var http = new HttpClient(new SocketsHttpHandler { UseCookies = false });
                using var request = operation.Request(server.Address);
                foreach (var (name, value) in headers)
                    request.Headers.TryAddWithoutValidation(name, value);
                using var answer = await http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, Token);
                Assert.True(answer.StatusCode == expected, $"{operation.Name} with {caller}: {(int)answer.StatusCode}, and not {(int)expected}");
                if ((int)expected >= 400)
                    Assert.Equal((operation.Name, "application/problem+json"), (operation.Name, answer.Content.Headers.ContentType?.MediaType));
            }
        }

        async Task<(string, string)> SessionAsync() => ("Cookie", $"{AdminDoor.CookieOf(store)}={await store.OpenSessionAsync(new SessionPlace("127.0.0.1", ""), Token)}");
    }

    private static List<Operation> Operations(RunningServer server) =>
    [
        .. server.Services.GetRequiredService<EndpointDataSource>().Endpoints.OfType<RouteEndpoint>()
            .Where(route => route.Metadata.GetMetadata<AdminEndpoint>() is not null)
            .SelectMany(route => (route.Metadata.GetMetadata<HttpMethodMetadata>()?.HttpMethods ?? ["GET", "PATCH"]).Select(method => new Operation(
                method,
                string.Join('/', route.RoutePattern.RawText!.Replace("{resource}/{**rest}", "no/such", StringComparison.Ordinal).Trim('/').Split('/')[1..]
                    .Select(part => part.StartsWith('{') ? NoId : part)),
                route.Metadata.GetMetadata<IAcceptsMetadata>()?.ContentTypes[0],
                route.Metadata.GetMetadata<OpenEndpoint>() is not null))),
    ];

    /// <summary>An operation of the API.</summary>
    /// <param name="Method">Its verb.</param>
    /// <param name="Path">Its path below <c>/api/</c>, with an id that does not exist.</param>
    /// <param name="Type">The content type of its body; null for none.</param>
    /// <param name="IsOpen">Whether it needs no credential.</param>
    private sealed record Operation(string Method, string Path, string? Type, bool IsOpen)
    {
        public string Name => $"{Method} {Path}";

        public HttpStatusCode RightAnswer =>
            Answers.TryGetValue(Name, out var known) ? known
            : Type is not null ? HttpStatusCode.BadRequest
            : Path.Split('/').Contains(NoId) ? HttpStatusCode.NotFound
            : HttpStatusCode.OK;

        public HttpRequestMessage Request(Uri server)
        {
            var request = new HttpRequestMessage(new HttpMethod(Method), new Uri(server, $"api/{Path}"));
            if (Type is null)
                return request;
            request.Content = new ByteArrayContent(Encoding.UTF8.GetBytes("nonsense"));
            request.Content.Headers.TryAddWithoutValidation("Content-Type", Type);
            return request;
        }
    }
}
