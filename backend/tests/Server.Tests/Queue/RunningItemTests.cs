using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Events;
using Sluice.Server.Library;
using Sluice.Server.Queue;
using Sluice.Server.Queue.Steps;
using Sluice.Server.Tests.Database;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.Queue;

/// <summary>Client actions on running items, and the queue's handling of a stuck item.</summary>
public sealed class RunningItemTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Paused_item_stops_and_restarts_on_resume()
    {
        await using var mock = await MockServer.StartAsync();
        var gate = new GateStep(_ => true);
        await using var host = await ProductHost.StartAsync(_folder, mock, services => gate.InsertBefore(services, typeof(Publish)));
        var id = (await host.AddAsync(Nzb("film.mkv"), "A.nzb", Token))[0];
        await gate.WaitForAsync(id, 1, Token);
        Assert.Equal(("Downloading", "86"), await SlotAsync(host, id));

        await host.CallAsync($"mode=queue&name=pause&value={id}", Token);
        Assert.Equal(("Paused", "0"), await SlotAsync(host, id));
        gate.Open();
        await host.CallAsync($"mode=queue&name=resume&value={id}", Token);

        Assert.Equal("Completed", (await host.WaitForHistoryAsync(id, Token)).GetProperty("status").GetString());
        Assert.Equal(2, gate.Runs(id));
    }

    [Fact]
    public async Task Paused_queue_starts_only_forced_items_and_finishes_running()
    {
        await using var mock = await MockServer.StartAsync();
        var gate = new GateStep(item => item.Name == "Running");
        await using var host = await ProductHost.StartAsync(_folder, mock, services => gate.InsertBefore(services, typeof(ReadNzb)));
        var running = (await host.AddAsync(Nzb("a.mkv"), "Running.nzb", Token))[0];
        await gate.WaitForAsync(running, 1, Token);

        Assert.Equal("""{"status":true}""", (await host.CallAsync("mode=pause", Token)).ToString());
        var waits = (await host.AddAsync(Nzb("b.mkv"), "Waits.nzb", Token, "&priority=1"))[0];
        var forced = (await host.AddAsync(Nzb("c.mkv"), "Forced.nzb", Token, "&priority=2"))[0];
        await host.WaitForHistoryAsync(forced, Token);
        var queue = (await host.CallAsync("mode=queue", Token)).GetProperty("queue");
        Assert.Equal(("Paused", true, "0"), (queue.GetProperty("status").GetString(), queue.GetProperty("paused").GetBoolean(), queue.GetProperty("pause_int").GetString()));
        gate.Open();
        await host.WaitForHistoryAsync(running, Token);
        Assert.Equal(("Queued", "0"), await SlotAsync(host, waits));
        Assert.Equal(0, gate.Runs(waits));

        await host.CallAsync("mode=resume", Token);
        Assert.Equal("Completed", (await host.WaitForHistoryAsync(waits, Token)).GetProperty("status").GetString());
    }

    [Fact]
    public async Task No_item_starts_after_the_pause_call_returns()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await ProductHost.StartAsync(_folder, mock, variables: ("SLUICE_CONFIG__QUEUE__WORKER_COUNT", "4"));
        var activity = host.Get<QueueActivity>();
        for (var round = 0; round < 15; round++)
        {
            await host.CallAsync("mode=resume", Token);
            for (var item = 0; item < 3; item++)
                await host.AddAsync(Nzb($"film{round}-{item}.mkv"), $"A{round}-{item}.nzb", Token);
            using var watched = host.Get<EventFeed>().Subscribe();
            await host.CallAsync("mode=pause", Token);
            var running = activity.Current.Keys.ToHashSet();
            while (watched.Events.TryRead(out _))
            {
                // Discard these events, because items could still start before the pause.
            }

            while (activity.Current.Count > 0)
                await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System, Token);
            watched.Dispose();
            Assert.Subset(running, (await watched.Events.ReadAllAsync(Token).OfType<JobStepEvent>().Select(step => step.Id).ToListAsync(Token)).ToHashSet());
        }
    }

    [Fact]
    public async Task Forced_item_starts_in_a_queue_paused_before_the_restart()
    {
        await using var mock = await MockServer.StartAsync();
        string id;
        await using (var host = await ProductHost.StartAsync(_folder))
        {
            await host.CallAsync("mode=pause", Token);
            id = (await host.AddAsync(Nzb("a.mkv"), "A.nzb", Token))[0];
        }

        await using (var host = await ProductHost.StartAsync(_folder, mock))
        {
            Assert.True((await host.CallAsync("mode=queue", Token)).GetProperty("queue").GetProperty("paused").GetBoolean());
            Assert.Equal(("Queued", "0"), await SlotAsync(host, id));
            Assert.Equal("""{"position":0}""", (await host.CallAsync($"mode=queue&name=priority&value={id}&value2=2", Token)).ToString());
            Assert.Equal("Completed", (await host.WaitForHistoryAsync(id, Token)).GetProperty("status").GetString());
        }
    }

    [Fact]
    public async Task Category_and_name_changed_during_import_apply_on_publish()
    {
        await using var mock = await MockServer.StartAsync();
        var gate = new GateStep(_ => true);
        await using var host = await ProductHost.StartAsync(_folder, mock, services => gate.InsertBefore(services, typeof(Publish)));
        var id = (await host.AddAsync(Nzb("film.mkv"), "Old.nzb", Token, "&cat=movies"))[0];
        await gate.WaitForAsync(id, 1, Token);

        Assert.Equal("""{"status":true}""", (await host.CallAsync($"mode=change_cat&value={id}&value2=tv", Token)).ToString());
        Assert.Equal("""{"status":true}""", (await host.CallAsync($"mode=queue&name=rename&value={id}&value2=New", Token)).ToString());
        gate.Open();
        var slot = await host.WaitForHistoryAsync(id, Token);

        Assert.Equal(("New", "tv"), (slot.GetProperty("name").GetString(), slot.GetProperty("category").GetString()));
        Assert.EndsWith("/tv/New", slot.GetProperty("storage").GetString(), StringComparison.Ordinal);
        Assert.IsType<FileEntry>(await host.Get<LibraryTree>().FindAsync(["tv", "New", "film.mkv"], Token));
        Assert.Equal(1, gate.Runs(id));
    }

    [Fact]
    public async Task Item_can_be_canceled_only_during_the_availability_check()
    {
        await using var mock = await MockServer.StartAsync();
        var early = new GateStep(item => item.Name == "Early");
        var check = new GateStep(_ => true) { Name = "CheckAvailability" };
        await using var host = await ProductHost.StartAsync(_folder, mock, services =>
        {
            early.InsertBefore(services, typeof(ReadNzb));
            check.InsertBefore(services, typeof(Publish));
        });
        var ids = new[] { (await host.AddAsync(Nzb("a.mkv"), "Early.nzb", Token))[0], (await host.AddAsync(Nzb("b.mkv"), "Late.nzb", Token))[0] };
        await early.WaitForAsync(ids[0], 1, Token);
        await check.WaitForAsync(ids[1], 1, Token);
        Assert.Equal("Checking", (await SlotAsync(host, ids[1])).Status);

        var none = """{"status":false,"error":"item does not exist"}""";
        Assert.Equal(none, (await host.CallAsync($"mode=cancel_pp&value={ids[0]},unknown", Token)).ToString());
        Assert.Equal(none, (await host.CallAsync("mode=cancel_pp", Token)).ToString());
        var answer = await host.CallAsync($"mode=cancel_pp&value={ids[0]},{ids[1]}", Token);

        Assert.Equal($$"""{"status":true,"nzo_ids":["{{ids[1]}}"]}""", answer.ToString());
        var slot = await host.WaitForHistoryAsync(ids[1], Token);
        Assert.Equal(("Failed", "Removed by a client."), (slot.GetProperty("status").GetString(), slot.GetProperty("fail_message").GetString()));
        Assert.Null(await host.Get<LibraryTree>().FindAsync(["uncategorized", "Late"], Token));
        Assert.Equal("Downloading", (await SlotAsync(host, ids[0])).Status);
    }

    [Theory]
    [InlineData(typeof(ReadNzb))]
    [InlineData(typeof(ProbeHeads))]
    [InlineData(typeof(Publish))]
    public async Task F39_Hanging_item_fails_after_two_tries_and_blocks_no_other(Type step)
    {
        await using var mock = await MockServer.StartAsync();
        var time = new ManualTimeProvider();
        var gate = new GateStep(item => item.Name == "Hangs");
        await using var host = await ProductHost.StartAsync(_folder, mock, services =>
        {
            gate.InsertBefore(services, step);
            services.AddSingleton(services => ActivatorUtilities.CreateInstance<StepRunner>(services, time));
        });
        var hangs = (await host.AddAsync(Nzb("a.mkv"), "Hangs.nzb", Token))[0];
        await gate.WaitForAsync(hangs, 1, Token);

        var other = (await host.AddAsync(Nzb("b.mkv"), "Other.nzb", Token))[0];
        Assert.Equal("Completed", (await host.WaitForHistoryAsync(other, Token)).GetProperty("status").GetString());
        time.Advance(TimeSpan.FromMinutes(3));
        await gate.WaitForAsync(hangs, 2, Token);
        time.Advance(TimeSpan.FromMinutes(3));

        var slot = await host.WaitForHistoryAsync(hangs, Token);
        Assert.Equal("Import made no progress twice in step Gate.", slot.GetProperty("fail_message").GetString());
        Assert.Equal(2, gate.Runs(hangs));
    }

    [Fact]
    public async Task Import_reports_each_step_and_records_its_timing()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await ProductHost.StartAsync(_folder, mock);
        using var watched = host.Get<EventFeed>().Subscribe();

        var id = (await host.AddAsync(Nzb("film.mkv"), "A.nzb", Token))[0];
        var slot = await host.WaitForHistoryAsync(id, Token);
        // The history row is visible before the end of the last step is reported.
        while (host.Get<QueueActivity>().Current.Count > 0)
            await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System, Token);
        watched.Dispose();

        var steps = await watched.Events.ReadAllAsync(Token).OfType<JobStepEvent>().Where(step => step.Id == id).ToListAsync(Token);
        string[] names = ["ReadNzb", "ProbeHeads", "ResolveNames", "MapArchives", "CheckAvailability", "Publish"];
        Assert.Equal(names.SelectMany(name => new[] { (name, StepState.Started), (name, StepState.Finished) }), steps.Select(step => (step.Step, step.State)));
        Assert.Equal("1 files, 3 segments", steps[1].Findings.Words);
        Assert.Equal(["files", "heads", "fetches", "bytes"], steps[3].Findings.Counts.Select(count => count.Name));
        Assert.Equal("1 files, names from Subject", steps[^1].Findings.Words);
        string[] stages = [.. slot.GetProperty("stage_log").EnumerateArray().SelectMany(stage => stage.GetProperty("actions").EnumerateArray()).Select(action => action.GetString()!)];
        Assert.EndsWith(" ms, 1 files, 3 segments", stages[0], StringComparison.Ordinal);
        Assert.EndsWith(" ms, 1 files, names from Subject", stages[^1], StringComparison.Ordinal);
    }

    private static byte[] Nzb(string name) => new MockRelease(name, 5, [new MockFile { Name = name, Size = 50_000, ArticleSize = 20_000 }]).ToNzb();

    private static async Task<(string? Status, string? Percentage)> SlotAsync(ProductHost host, string id)
    {
        var slots = (await host.CallAsync($"mode=queue&nzo_ids={id}", Token)).GetProperty("queue").GetProperty("slots");
        return slots.EnumerateArray().Select(slot => (slot.GetProperty("status").GetString(), slot.GetProperty("percentage").GetString())).Single();
    }
}
