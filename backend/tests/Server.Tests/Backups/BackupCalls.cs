using System.Net;
using System.Net.Http.Json;
using System.Text.Json.Nodes;
using Sluice.Server.Auth;
using Sluice.Server.Tests.Queue;
using Sluice.Server.Tests.Startup;
using Xunit;

namespace Sluice.Server.Tests.Backups;

/// <summary>Calls of <c>/api/backups</c> with a full-access key.</summary>
internal static class BackupCalls
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    /// <summary>Sends a call with a newly created key.</summary>
    public static async Task<HttpResponseMessage> CallAsync(this ProductHost host, HttpMethod method, string path, object? body = null)
    {
        var (_, key) = await host.Get<AdminStore>().MakeKeyAsync("backups", hasFullAccess: true, Token);
        using var request = new HttpRequestMessage(method, new Uri($"api/{path}", UriKind.Relative));
        request.Headers.Add("X-Api-Key", key);
        if (body is not null)
            request.Content = JsonContent.Create(body);
        return await host.Client.SendAsync(request, Token);
    }

    /// <summary>Sends a call, fails unless it succeeds, and returns its response.</summary>
    public static async Task<JsonNode> AskAsync(this ProductHost host, HttpMethod method, string path, object? body = null)
    {
        using var answer = await host.CallAsync(method, path, body);
        var text = await answer.Content.ReadAsStringAsync(Token);
        Assert.True(answer.IsSuccessStatusCode, $"{(int)answer.StatusCode} {text}");
        return JsonNode.Parse(text)!;
    }

    /// <summary>Makes a backup and waits until it is finished.</summary>
    /// <returns>Its row in the list.</returns>
    public static async Task<JsonNode> BackUpAsync(this PublishedFilms films)
    {
        using (var begun = await films.Host.CallAsync(HttpMethod.Post, "backups"))
            Assert.Equal(HttpStatusCode.Accepted, begun.StatusCode);
        JsonNode? list = null;
        await films.UntilAsync(async () => !(list = await films.Host.AskAsync(HttpMethod.Get, "backups"))["isMaking"]!.GetValue<bool>());
        Assert.Null(list!["failure"]);
        return list["items"]![0]!;
    }
}
