using System.Net;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json.Nodes;
using Dapper;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Auth;
using Sluice.Server.Database;
using Sluice.Server.Queue;
using Sluice.Server.Queue.Intake;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>The whole server, with or without a provider, called through its admin API with a full-access key.</summary>
internal sealed class JobServer : IAsyncDisposable
{
    private readonly HttpClient _client;

    private JobServer(ProductHost host, string key)
    {
        Host = host;
        _client = new HttpClient { BaseAddress = host.Client.BaseAddress };
        _client.DefaultRequestHeaders.Add("X-Api-Key", key);
    }

    public ProductHost Host { get; }

    /// <summary>Sends the key with every request.</summary>
    public HttpClient Client => _client;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public static async Task<JobServer> StartAsync(
        TemporaryFolder folder, MockServer? provider = null, Action<IServiceCollection>? replace = null, params (string Name, string Value)[] variables)
    {
        var host = await ProductHost.StartAsync(folder, provider, replace, variables);
        var (_, key) = await host.Get<AdminStore>().MakeKeyAsync("test", hasFullAccess: true, Token);
        return new JobServer(host, key);
    }

    /// <summary>Gives the workers that remove films a clock of their own, because a timer of another worker could be mistaken for theirs.</summary>
    public static void UseRemovalClock(IServiceCollection services, TimeProvider time) => services
        .AddSingleton(provider => ActivatorUtilities.CreateInstance<FileRemoval>(provider, time))
        .AddSingleton(provider => ActivatorUtilities.CreateInstance<UndoWorker>(provider, time));

    /// <summary>Sends JSON, or nothing, and reads JSON; fails unless the status is the expected one.</summary>
    public async Task<JsonNode> SendAsync(HttpMethod method, string path, JsonNode? body = null, HttpStatusCode expected = HttpStatusCode.OK)
    {
        using var content = body is null ? null : new StringContent(body.ToJsonString(), Encoding.UTF8, "application/json");
        return await SendContentAsync(method, path, content, expected);
    }

    public Task<JsonNode> GetAsync(string path) => SendAsync(HttpMethod.Get, path);

    /// <summary>Reads the rows of a page.</summary>
    public async Task<List<JsonNode>> ListAsync(string path) => [.. (await GetAsync(path))["items"]!.AsArray().Select(row => row!)];

    /// <summary>Uploads a file between the form fields.</summary>
    public async Task<JsonNode> UploadAsync(byte[] content, string fileName, HttpStatusCode expected = HttpStatusCode.OK, params (string Name, string Value)[] fields)
    {
        using var form = new MultipartFormDataContent();
        for (var i = 0; i <= fields.Length; i++)
        {
            // The file is in the middle, so that some fields precede it and others follow it.
            if (i == fields.Length / 2)
                form.Add(new ByteArrayContent(content), "file", fileName);
            if (i < fields.Length)
                form.Add(new StringContent(fields[i].Value), fields[i].Name);
        }

        return await SendContentAsync(HttpMethod.Post, "queue", form, expected);
    }

    /// <summary>Imports a release of files of <paramref name="size"/> bytes from the provider, and returns the id of its history item.</summary>
    public async Task<string> ImportAsync(string name, ulong seed, int size, params string[] files)
    {
        var release = new MockRelease(name, seed, [.. files.Select(file => new MockFile { Name = file, Size = size, ArticleSize = size / 5 })]);
        var id = (await Host.AddAsync(release.ToNzb(), $"{name}.nzb", Token, "&cat=movies"))[0];
        await Host.WaitForHistoryAsync(id, Token);
        return id;
    }

    /// <summary>Counts the rows of a table or a join.</summary>
    public Task<long> CountAsync(string rows) => Host.Get<SluiceDatabase>().ReadAsync(
        connection => connection.ExecuteScalar<long>($"SELECT count(*) FROM {rows}"), Token);

    /// <summary>Uploads an NZB of one file and returns its id.</summary>
    public async Task<string> AddAsync(string name, params (string Name, string Value)[] fields) =>
        (await UploadAsync(NzbText.Of(name + ".mkv"), name + ".nzb", HttpStatusCode.OK, fields))["ids"]![0]!.GetValue<string>();

    public async Task<JsonNode> SendContentAsync(HttpMethod method, string path, HttpContent? content, HttpStatusCode expected)
    {
        using var request = new HttpRequestMessage(method, new Uri($"/api/{path}", UriKind.Relative)) { Content = content };
        using var answer = await _client.SendAsync(request, Token);
        var text = await answer.Content.ReadAsStringAsync(Token);
        Assert.True(answer.StatusCode == expected, $"{method} {path}: {(int)answer.StatusCode} {text}");
        return text.Length == 0 ? new JsonObject() : JsonNode.Parse(text)!;
    }

    public async Task<(byte[] Body, MediaTypeHeaderValue? Type, string? FileName)> DownloadAsync(string path)
    {
        using var answer = await _client.GetAsync(new Uri($"/api/{path}", UriKind.Relative), Token);
        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        return (await answer.Content.ReadAsByteArrayAsync(Token), answer.Content.Headers.ContentType, answer.Content.Headers.ContentDisposition?.FileNameStar);
    }

    /// <summary>Waits until an item has left the queue.</summary>
    public async Task<JsonNode> WaitForHistoryAsync(string id)
    {
        await Host.WaitForHistoryAsync(id, Token);
        return (await GetAsync($"history/{id}"))["item"]!;
    }

    public async ValueTask DisposeAsync()
    {
        _client.Dispose();
        await Host.DisposeAsync();
    }
}
