using System.Net;
using System.Text;
using System.Text.Json.Nodes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Sluice.Server.Auth;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Startup;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>The whole server, called through its admin API with a full-access key.</summary>
internal sealed class ResourceServer : IAsyncDisposable
{
    private readonly string _urlBase;

    private ResourceServer(RunningServer server)
    {
        Server = server;
        _urlBase = server.Services.GetRequiredService<IOptionsMonitor<GeneralOptions>>().CurrentValue.UrlBase;
    }

    public RunningServer Server { get; }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public static async Task<ResourceServer> StartAsync(
        TemporaryFolder folder, Dictionary<string, string>? variables = null, Action<IServiceCollection>? replace = null)
    {
        var server = await RunningServer.StartAsync(folder, variables, replace: replace);
        var (_, key) = await server.Services.GetRequiredService<AdminStore>().MakeKeyAsync("test", hasFullAccess: true, Token);
        server.Client.DefaultRequestHeaders.Add("X-Api-Key", key);
        return new ResourceServer(server);
    }

    /// <summary>Sends JSON, or nothing, and reads JSON; fails unless the status is the expected one.</summary>
    public async Task<JsonNode> SendAsync(HttpMethod method, string path, JsonNode? body = null, HttpStatusCode expected = HttpStatusCode.OK)
    {
        var text = await SendTextAsync(method, path, body?.ToJsonString(), "application/json", expected);
        return text.Length == 0 ? new JsonObject() : JsonNode.Parse(text)!;
    }

    public Task<JsonNode> GetAsync(string path) => SendAsync(HttpMethod.Get, path);

    /// <summary>Saves settings and returns the errors; null if they are accepted.</summary>
    public async Task<JsonObject?> SaveAsync(HttpStatusCode expected, params (string Key, string? Value)[] values)
    {
        var body = new JsonObject { ["values"] = new JsonObject(values.Select(value => KeyValuePair.Create(value.Key, (JsonNode?)value.Value))) };
        return (await SendAsync(HttpMethod.Put, "settings", body, expected))["errors"] as JsonObject;
    }

    /// <summary>Reads one setting.</summary>
    public async Task<JsonNode> ValueAsync(string key) =>
        (await GetAsync("settings"))["items"]!.AsArray().Single(item => item!["key"]!.GetValue<string>() == key)!;

    public async Task<string> SendTextAsync(HttpMethod method, string path, string? body, string type, HttpStatusCode expected)
    {
        using var request = new HttpRequestMessage(method, new Uri(Server.Address, $"{_urlBase}/api/{path}"));
        if (body is not null)
            request.Content = new StringContent(body, Encoding.UTF8, type);
        using var answer = await Server.Client.SendAsync(request, Token);
        var text = await answer.Content.ReadAsStringAsync(Token);
        Assert.True(answer.StatusCode == expected, $"{method} {path}: {(int)answer.StatusCode} {text}");
        return text;
    }

    public ValueTask DisposeAsync() => Server.DisposeAsync();
}
