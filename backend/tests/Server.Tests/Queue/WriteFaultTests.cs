using System.Net;
using System.Text.Json;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Database;
using Sluice.Server.Queue;
using Sluice.Server.Tests.Database;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.Queue;

/// <summary>A full, a broken and an inaccessible disk at each step of each write (F34, G15): the right error, and nothing is left behind.</summary>
public sealed class WriteFaultTests : IDisposable
{
    private static readonly string[] Steps = ["create", "write tmp", "fsync tmp", "rename"];
    private static readonly string[] Errors = ["ENOSPC", "EIO", "EACCES"];

    private readonly TemporaryFolder _folder = new();
    private readonly RecordingBlobFiles _files = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task G15_Write_fault_at_any_step_refuses_and_leaves_nothing()
    {
        await using var host = await ProductHost.StartAsync(_folder, null, Use());
        var passing = NzbText.Of("b.mkv");
        await host.PutAsync("/nzbs/tv/Passing.nzb.part", passing, Token);
        foreach (var error in Errors)
        {
            foreach (var step in Steps.Append("fsync blobs"))
            {
                await RefusedAsync(step, error, () => AddFileAsync(host));
                await RefusedAsync(step, error, () => SendAsync(host, HttpMethod.Put, "/nzbs/tv/Rel.nzb", null));
                await RefusedAsync(step, error, () => SendAsync(host, new HttpMethod("MOVE"), "/nzbs/tv/Passing.nzb.part", "/nzbs/tv/Passing.nzb"));
            }

            foreach (var step in Steps.Append("fsync staged"))
                await RefusedAsync(step, error, () => SendAsync(host, HttpMethod.Put, "/nzbs/tv/Other.nzb.part", null));
        }

        Assert.Empty(Directory.GetFiles(_folder.Folder.Blobs));
        Assert.Single(Directory.GetFiles(_folder.Folder.Staged));
        Assert.Equal((0, 0), (await CountAsync(host, "queue"), await CountAsync(host, "history")));

        // Files from before the faults still exist, and everything works again.
        Assert.Equal(HttpStatusCode.Created, await SendAsync(host, new HttpMethod("MOVE"), "/nzbs/tv/Passing.nzb.part", "/nzbs/tv/Passing.nzb"));
        await host.AddAsync(NzbText.Of("a.mkv"), "Rel.nzb", Token);
        Assert.Equal(2, await CountAsync(host, "queue"));
    }

    [Fact]
    public async Task G15_Write_fault_in_an_import_delays_but_publishes_the_item()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await ProductHost.StartAsync(_folder, mock, Use());
        var number = 0;
        foreach (var (step, error) in Steps.Append("fsync blobs").SelectMany(step => Errors.Select(error => (step, error))))
        {
            var film = new MockRelease($"rel-{++number}", (ulong)number, [new MockFile { Name = "film.mkv", Size = 50_000, ArticleSize = 20_000 }]);
            var id = (await host.AddAsync(film.ToNzb(), $"Rel-{number}.nzb", Token, "&cat=tv&priority=-2"))[0];
            _files.FailAt = (step, Failure(error));
            await host.CallAsync($"mode=queue&name=resume&value={id}", Token);
            await host.WaitForWaitingAsync(id, Token);
            Assert.Equal(number - 1, await CountAsync(host, "history"));

            _files.FailAt = null;
            host.Get<QueueSchedule>().RetryAll();
            Assert.Equal("Completed", (await host.WaitForHistoryAsync(id, Token)).GetProperty("status").GetString());
        }
    }

    private async Task RefusedAsync(string step, string error, Func<Task<object>> act)
    {
        _files.FailAt = (step, Failure(error));
        var answer = await act();
        _files.FailAt = null;
        object[] right = error == "ENOSPC" ? ["Disk is full", HttpStatusCode.InsufficientStorage] : ["Storage unavailable", HttpStatusCode.ServiceUnavailable];
        Assert.True(right.Contains(answer), $"{error} at {step}: {answer}");
    }

    private static async Task<object> AddFileAsync(ProductHost host)
    {
        using var answer = await host.PostFileAsync(NzbText.Of("a.mkv"), "Rel.nzb", "", Token);
        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        using var json = JsonDocument.Parse(await answer.Content.ReadAsStringAsync(Token));
        return json.RootElement.TryGetProperty("error", out var text) ? text.GetString()! : "accepted";
    }

    private static async Task<object> SendAsync(ProductHost host, HttpMethod method, string path, string? target)
    {
        using var answer = target is null
            ? await host.SendAsync(method, path, NzbText.Of("a.mkv"), Token)
            : await host.SendAsync(method, path, null, Token, ("Destination", target));
        return answer.StatusCode;
    }

    private static async Task<int> CountAsync(ProductHost host, string list) =>
        (await host.CallAsync($"mode={list}", Token)).GetProperty(list).GetProperty("noofslots").GetInt32();

    private Action<IServiceCollection> Use() => services => services.AddSingleton<IBlobFiles>(_files);

    private static Exception Failure(string error) => error switch
    {
        "ENOSPC" => new IOException("No space left on device", 28),
        "EIO" => new IOException("Input/output error", 5),
        _ => new UnauthorizedAccessException("Permission denied", new IOException("Permission denied", 13)),
    };
}
