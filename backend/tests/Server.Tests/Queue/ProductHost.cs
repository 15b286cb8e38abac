using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Queue;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Auth;
using Sluice.Server.Tests.Database;
using Sluice.Tools.MockNntpServer;

namespace Sluice.Server.Tests.Queue;

/// <summary>The whole server on a free port with its own folder, and a client with its API key.</summary>
internal sealed class ProductHost : IAsyncDisposable
{
    public const string Key = "0123456789abcdef0123456789abcdef";

    /// <summary>WebDAV password of the user admin.</summary>
    public const string Password = "password-of-the-test";

    private readonly WebApplication _app;

    private ProductHost(WebApplication app, Uri address)
    {
        _app = app;
        Client = new HttpClient { BaseAddress = address };
    }

    public HttpClient Client { get; }

    public static async Task<ProductHost> StartAsync(
        TemporaryFolder folder,
        MockServer? provider = null,
        Action<IServiceCollection>? replace = null,
        params (string Name, string Value)[] variables)
    {
        var environment = new Dictionary<string, string>
        {
            ["CONFIG_PATH"] = folder.Root,
            ["PORT"] = "0",
            ["BIND_ADDRESS"] = "127.0.0.1",
            ["LOG_LEVEL"] = "error",
            ["SLUICE_CONFIG__API__KEY"] = Key,
            // Hashed in advance, because hashing a plain password would take a third of a start.
            ["SLUICE_CONFIG__WEBDAV__PASS"] = QuickHash.Of(Password),
        };
        if (provider is not null)
            environment["SLUICE_CONFIG__USENET__PROVIDERS"] = ProvidersJson(provider);
        foreach (var (name, value) in variables)
            environment[name] = value;

        var app = Program.Build(new ProcessEnvironment(environment), services =>
        {
            MigratedTemplate.AddTo(services, folder.Root);
            replace?.Invoke(services);
        });
        await app.StartAsync();
        var address = app.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses.First();
        return new ProductHost(app, new Uri(address));
    }

    public T Get<T>()
        where T : notnull => _app.Services.GetRequiredService<T>();

    public IEnumerable<T> GetAll<T>() => _app.Services.GetServices<T>();

    public async Task<JsonElement> CallAsync(string query, CancellationToken cancellationToken)
    {
        using var answer = await Client.GetAsync(new Uri($"/api?apikey={Key}&{query}", UriKind.Relative), cancellationToken);
        return await ReadAsync(answer, cancellationToken);
    }

    public async Task<HttpResponseMessage> PostFileAsync(byte[] content, string fileName, string query, CancellationToken cancellationToken)
    {
        using var form = new MultipartFormDataContent();
        var file = new ByteArrayContent(content);
        file.Headers.ContentType = new MediaTypeHeaderValue("application/x-nzb");
        form.Add(file, "name", fileName);
        return await Client.PostAsync(new Uri($"/api?mode=addfile&apikey={Key}{query}", UriKind.Relative), form, cancellationToken);
    }

    /// <summary>Sends a request to the tree with valid credentials.</summary>
    public async Task<HttpResponseMessage> SendAsync(
        HttpMethod method, string path, byte[]? content, CancellationToken cancellationToken, params (string Name, string Value)[] headers)
    {
        using var request = new HttpRequestMessage(method, new Uri(path, UriKind.Relative));
        foreach (var (name, value) in headers)
            request.Headers.Add(name, value);
        request.Headers.Authorization = new AuthenticationHeaderValue("Basic", Convert.ToBase64String(Encoding.UTF8.GetBytes($"admin:{Password}")));
        request.Content = content is null ? null : new ByteArrayContent(content);
        return await Client.SendAsync(request, cancellationToken);
    }

    /// <summary>Uploads a file over WebDAV; fails unless the server accepts it.</summary>
    public async Task PutAsync(string path, byte[] content, CancellationToken cancellationToken)
    {
        using var answer = await SendAsync(HttpMethod.Put, path, content, cancellationToken);
        answer.EnsureSuccessStatusCode();
    }

    /// <summary>Adds a file through the SABnzbd API; fails unless the server accepts it.</summary>
    public async Task<string[]> AddAsync(byte[] content, string fileName, CancellationToken cancellationToken, string query = "")
    {
        using var answer = await PostFileAsync(content, fileName, query, cancellationToken);
        var json = await ReadAsync(answer, cancellationToken);
        return json.GetProperty("status").GetBoolean()
            ? [.. json.GetProperty("nzo_ids").EnumerateArray().Select(id => id.GetString()!)]
            : throw new InvalidOperationException(json.ToString());
    }

    /// <summary>Waits until an item has left the queue.</summary>
    /// <returns>The slot of the item in the history.</returns>
    public async Task<JsonElement> WaitForHistoryAsync(string id, CancellationToken cancellationToken)
    {
        while (true)
        {
            var slots = (await CallAsync($"mode=history&nzo_ids={id}", cancellationToken)).GetProperty("history").GetProperty("slots");
            if (slots.GetArrayLength() > 0)
                return slots[0];
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, cancellationToken);
        }
    }

    /// <summary>Waits until an item waits for a provider.</summary>
    public async Task WaitForWaitingAsync(string id, CancellationToken cancellationToken)
    {
        while (!Get<QueueSchedule>().IsRetrying(id))
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, cancellationToken);
    }

    public async ValueTask DisposeAsync()
    {
        Client.Dispose();
        await _app.StopAsync();
        await _app.DisposeAsync();
    }

    private static async Task<JsonElement> ReadAsync(HttpResponseMessage answer, CancellationToken cancellationToken)
    {
        using var json = JsonDocument.Parse(await answer.Content.ReadAsStringAsync(cancellationToken));
        return json.RootElement.Clone();
    }

    /// <summary>Returns the setting that makes a mock server the provider.</summary>
    public static string ProvidersJson(MockServer provider) => JsonSerializer.Serialize(new
    {
        Providers = provider.Ports.Select((port, i) => new
        {
            Nickname = $"mock{i}",
            Host = "127.0.0.1",
            Port = port,
            UseSsl = false,
            MaxConnections = 8,
            Type = 1,
            Priority = i,
        }),
    });
}
