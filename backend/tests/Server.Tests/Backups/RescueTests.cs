using System.Net;
using System.Net.Http.Json;
using System.Text.Json.Nodes;
using Sluice.Server.Diagnostics;
using Sluice.Server.Tests.Startup;
using Xunit;

namespace Sluice.Server.Tests.Backups;

/// <summary>The exit from safe mode, which needs the code from the log or the data folder (OPS-14, S33).</summary>
public sealed class RescueTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task OPS_14_Backup_is_restored_from_safe_mode()
    {
        await using var films = await PublishedFilms.CreateAsync(2);
        await films.StartAsync();
        var id = (await films.BackUpAsync())["id"]!.ToString();
        await films.AddAsync(1);
        await films.StopAsync();
        films.PutDatabase(new byte[8192]);
        await films.StartAsync();

        var (status, state) = await SendAsync(films, HttpMethod.Get, null);
        Assert.Equal((HttpStatusCode.OK, true), (status, state["needsCode"]!.GetValue<bool>()));
        Assert.Contains("damaged", state["cause"]!.ToString(), StringComparison.Ordinal);
        var code = (await File.ReadAllTextAsync(Path.Combine(films.Root, "rescue-code"), Token)).Trim();
        Assert.DoesNotContain(films.Log, line => line.Contains(code, StringComparison.Ordinal));
        var (_, list) = await SendAsync(films, HttpMethod.Post, new { code });
        var row = Assert.Single(list["items"]!.AsArray())!;
        Assert.Equal((id, 1, 2), (row["backup"]!["id"]!.ToString(), row["cost"]!["later"]!.GetValue<int>(), row["cost"]!["files"]!.GetValue<int>()));
        (status, list) = await SendAsync(films, HttpMethod.Post, new { code, backup = id, requeue = true });
        Assert.Equal((HttpStatusCode.Accepted, true), (status, list["isRestoring"]!.GetValue<bool>()));
        // The restart begins when the response is complete, which the client may see first.
        await films.UntilAsync(() => Task.FromResult(films.Host.Get<ProcessRestart>().IsRequested));
        await films.StopAsync();

        await films.StartAsync();
        await films.UntilAsync(async () => (await films.Host.CallAsync("mode=history", Token)).GetProperty("history").GetProperty("noofslots").GetInt32() == 3);
        await films.AssertPlayAsync();
        Assert.False(File.Exists(Path.Combine(films.Root, "rescue-code")));
        Assert.Equal(HttpStatusCode.NotFound, (await SendAsync(films, HttpMethod.Get, null)).Status);
        Assert.Equal(HttpStatusCode.NotFound, (await SendAsync(films, HttpMethod.Post, new { code, backup = id })).Status);
    }

    [Fact]
    public async Task S33_Wrong_rescue_code_reveals_and_restores_nothing()
    {
        await using var films = await PublishedFilms.CreateAsync(1);
        await films.StartAsync();
        var id = (await films.BackUpAsync())["id"]!.ToString();
        await films.StopAsync();
        films.PutDatabase(null);
        await films.StartAsync();

        for (var guess = 0; guess < 12; guess++)
        {
            var (status, answer) = await SendAsync(films, HttpMethod.Post, new { code = $"AAAA-AA{guess:00}", backup = id });
            Assert.Equal(guess < 10 ? HttpStatusCode.BadRequest : HttpStatusCode.TooManyRequests, status);
            Assert.DoesNotContain(id, answer.ToString(), StringComparison.Ordinal);
        }

        Assert.False(films.Host.Get<ProcessRestart>().IsRequested);
        Assert.False(File.Exists(Path.Combine(films.Root, "restore.json")));
    }

    private static async Task<(HttpStatusCode Status, JsonNode Answer)> SendAsync(PublishedFilms films, HttpMethod method, object? body)
    {
        using var stranger = new HttpClient { BaseAddress = films.Host.Client.BaseAddress };
        using var request = new HttpRequestMessage(method, "api/rescue");
        request.Content = body is null ? null : JsonContent.Create(body);
        using var answer = await stranger.SendAsync(request, Token);
        return (answer.StatusCode, JsonNode.Parse(await answer.Content.ReadAsStringAsync(Token))!);
    }
}
