using System.Net;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Database;
using Sluice.Server.Queue;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.Startup;

/// <summary>
/// Fails each step of each write in turn during a start, a save, an upload and an import. Nothing acknowledged is lost, and the next
/// start serves (F34, G15).
/// </summary>
public sealed class EveryFaultTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Fault_at_any_step_of_startup_loses_no_acknowledged_data()
    {
        await ForEachStepAsync(
            async folder =>
            {
                await using var host = await ProductHost.StartAsync(folder);
                await host.CallAsync("mode=pause", Token);
                await host.AddAsync(NzbText.Of("a.mkv"), "Kept.nzb", Token);
                Assert.Empty(await host.Get<SettingsStore>().SaveAsync(Workers("3"), Token));
            },
            host => Task.CompletedTask,
            async next =>
            {
                Assert.Equal(["Kept"], await NamesAsync(next));
                Assert.Equal("3", next.Get<SettingsSource>().Current.Text("queue.worker-count"));
            });
    }

    [Fact]
    public async Task Fault_at_any_step_of_saving_loses_no_setting()
    {
        var acknowledged = "";
        await ForEachStepAsync(
            PauseAsync,
            async host =>
            {
                acknowledged = "";
                try
                {
                    Assert.Empty(await host.Get<SettingsStore>().SaveAsync(Workers("4"), Token));
                    acknowledged = "4";
                }
                catch (StorageException)
                {
                    Assert.NotEqual("4", host.Get<SettingsSource>().Current.Text("queue.worker-count"));
                }
            },
            next =>
            {
                if (acknowledged.Length > 0)
                    Assert.Equal(acknowledged, next.Get<SettingsSource>().Current.Text("queue.worker-count"));
                return Task.CompletedTask;
            });
    }

    [Fact]
    public async Task Fault_at_any_step_of_adding_loses_no_nzb()
    {
        var isAcknowledged = false;
        await ForEachStepAsync(
            PauseAsync,
            async host =>
            {
                using var answer = await host.SendAsync(HttpMethod.Put, "/nzbs/tv/New.nzb", NzbText.Of("b.mkv"), Token);
                isAcknowledged = answer.StatusCode == HttpStatusCode.Created;
                Assert.True(isAcknowledged || (int)answer.StatusCode is 503 or 507, $"{answer.StatusCode}");
            },
            async next =>
            {
                if (isAcknowledged)
                    Assert.Equal(["New"], await NamesAsync(next));
            });
    }

    [Fact]
    public async Task Import_is_published_despite_a_fault_at_any_step()
    {
        await using var mock = await MockServer.StartAsync();
        var film = new MockRelease("rel", 7, [new MockFile { Name = "film.mkv", Size = 50_000, ArticleSize = 20_000 }]);
        await ForEachStepAsync(
            async folder =>
            {
                await using var host = await ProductHost.StartAsync(folder);
                await host.AddAsync(film.ToNzb(), "Film.nzb", Token);
            },
            async host =>
            {
                // Wait until the step has failed, or the import has finished without reaching it.
                while (!host.Get<FaultyStorage>().HasFailed && (await NamesAsync(host)).Length > 0)
                    await Task.Delay(TimeSpan.FromMilliseconds(10), TimeProvider.System, Token);
            },
            async next =>
            {
                while ((await NamesAsync(next)).Length > 0)
                {
                    next.Get<QueueSchedule>().RetryAll();
                    await Task.Delay(TimeSpan.FromMilliseconds(10), TimeProvider.System, Token);
                }

                var slots = (await next.CallAsync("mode=history", Token)).GetProperty("history").GetProperty("slots");
                Assert.Equal("Completed", Assert.Single(slots.EnumerateArray()).GetProperty("status").GetString());
            },
            mock);
    }

    /// <summary>For each step n that is reached: prepares a folder, runs a server whose step n fails, and checks the next start.</summary>
    private static async Task ForEachStepAsync(
        Func<TemporaryFolder, Task> prepare, Func<ProductHost, Task> act, Func<ProductHost, Task> judge, MockServer? mock = null)
    {
        var n = 0;
        for (var isReached = true; isReached;)
        {
            using var folder = new TemporaryFolder();
            await prepare(folder);
            var storage = new FaultyStorage { FailAt = ++n };
            await using (var host = await ProductHost.StartAsync(folder, mock, services => services
                .AddSingleton(storage).AddSingleton<IBlobFiles>(storage).AddSingleton<ICommitStep>(storage)))
            {
                using (var answer = await host.Client.GetAsync(new Uri("/healthz", UriKind.Relative), Token))
                    Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
                await act(host);
            }

            isReached = storage.HasFailed;
            await using var next = await ProductHost.StartAsync(folder, mock);
            await judge(next);
        }

        // The test would verify nothing if no step had failed.
        Assert.True(n > 1);
    }

    private static async Task PauseAsync(TemporaryFolder folder)
    {
        await using var host = await ProductHost.StartAsync(folder);
        await host.CallAsync("mode=pause", Token);
    }

    private static Dictionary<string, string?> Workers(string count) => new() { ["queue.worker-count"] = count };

    private static async Task<string[]> NamesAsync(ProductHost host) =>
        [.. (await host.CallAsync("mode=queue", Token)).GetProperty("queue").GetProperty("slots").EnumerateArray().Select(slot => slot.GetProperty("filename").GetString()!)];
}
