using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Queue;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Queue;

/// <summary>The pause of the whole queue survives restarts, and a timed pause ends only by the clock (F38).</summary>
public sealed class QueuePauseTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();
    private readonly ManualTimeProvider _time = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Pause_lasts_across_restarts_until_resumed()
    {
        await RunAsync(async pause =>
        {
            Assert.False(pause.IsPaused);
            await pause.PauseAsync(null, Token);
        });
        _time.Advance(TimeSpan.FromDays(400));
        await RunAsync(async pause =>
        {
            Assert.True(pause.IsPaused);
            Assert.Null(pause.Left);
            await pause.ResumeAsync(Token);
            Assert.False(pause.IsPaused);
        });
        await RunAsync(IsOverAsync);
    }

    [Fact]
    public async Task Timed_pause_ends_without_a_restart() => await RunAsync(async pause =>
    {
        await pause.PauseAsync(TimeSpan.FromMinutes(90), Token);
        Assert.Equal(TimeSpan.FromMinutes(90), pause.Left);
        _time.Advance(TimeSpan.FromMinutes(90) - TimeSpan.FromSeconds(1));
        Assert.Equal((true, TimeSpan.FromSeconds(1)), (pause.IsPaused, pause.Left!.Value));
        _time.Advance(TimeSpan.FromSeconds(1));

        Assert.Equal((false, null, 0), (pause.IsPaused, pause.Left, _time.Alive));
    });

    [Fact]
    public async Task Saving_queue_paused_pauses_the_queue()
    {
        await using var host = await StartAsync();

        await host.Get<SettingsStore>().SaveAsync(new Dictionary<string, string?> { ["queue.paused"] = "true" }, Token);

        Assert.True((await host.CallAsync("mode=queue", Token)).GetProperty("queue").GetProperty("paused").GetBoolean());
        await host.CallAsync("mode=config&name=set_pause&value=5", Token);
        Assert.Equal((true, false), (host.Get<QueuePause>().IsPaused, host.Get<SettingsSource>().Current.Boolean("queue.paused")));
    }

    [Fact]
    public async Task Resume_is_refused_if_the_environment_pauses_the_queue()
    {
        await using var host = await StartAsync(("SLUICE_CONFIG__QUEUE__PAUSED", "true"));
        const string locked = """{"status":false,"error":"Configuration locked"}""";

        Assert.Equal("""{"status":true}""", (await host.CallAsync("mode=pause", Token)).ToString());
        Assert.Equal(locked, (await host.CallAsync("mode=resume", Token)).ToString());
        Assert.Equal(locked, (await host.CallAsync("mode=config&name=set_pause&value=0", Token)).ToString());
        Assert.True(host.Get<QueuePause>().IsPaused);
    }

    [Fact]
    public async Task Timed_pause_continues_after_a_restart()
    {
        await RunAsync(pause => pause.PauseAsync(TimeSpan.FromMinutes(90), Token));
        _time.Advance(TimeSpan.FromMinutes(60));
        await RunAsync(pause =>
        {
            Assert.Equal(TimeSpan.FromMinutes(30), pause.Left);
            _time.Advance(TimeSpan.FromMinutes(30));
            Assert.False(pause.IsPaused);
            return Task.CompletedTask;
        });
        await RunAsync(IsOverAsync);
    }

    [Fact]
    public async Task Clock_change_does_not_change_the_end_of_a_running_pause()
    {
        await RunAsync(async pause =>
        {
            await pause.PauseAsync(TimeSpan.FromMinutes(10), Token);
            _time.SetWallClock(TimeSpan.FromDays(-300));
            Assert.Equal(TimeSpan.FromMinutes(10), pause.Left);
            _time.Advance(TimeSpan.FromMinutes(9));
            Assert.True(pause.IsPaused);
        });
        // The stored time of day is off by as much as the clock, but the restored pause is limited to the longest one.
        await RunAsync(pause =>
        {
            Assert.Equal(QueuePause.Longest, pause.Left);
            return Task.CompletedTask;
        });
    }

    [Fact]
    public async Task Later_pause_replaces_the_earlier_one()
    {
        await RunAsync(async pause =>
        {
            await pause.PauseAsync(TimeSpan.FromMinutes(1), Token);
            await pause.PauseAsync(TimeSpan.FromDays(1_000), Token);
            _time.Advance(TimeSpan.FromMinutes(2));
            Assert.Equal(QueuePause.Longest - TimeSpan.FromMinutes(2), pause.Left);
            await pause.PauseAsync(null, Token);
            _time.Advance(QueuePause.Longest * 2);
            Assert.True(pause.IsPaused);
            await pause.PauseAsync(TimeSpan.FromMinutes(1), Token);
            await pause.ResumeAsync(Token);
            Assert.Equal((false, null, 0), (pause.IsPaused, pause.Left, _time.Alive));
        });
    }

    private static Task IsOverAsync(QueuePause pause)
    {
        Assert.False(pause.IsPaused);
        return Task.CompletedTask;
    }

    /// <summary>Runs an action on the pause of a running server.</summary>
    private async Task RunAsync(Func<QueuePause, Task> run)
    {
        await using var host = await StartAsync();
        await run(host.Get<QueuePause>());
    }

    private Task<ProductHost> StartAsync(params (string Name, string Value)[] variables) => ProductHost.StartAsync(
        _folder,
        replace: services => services.AddSingleton(services => ActivatorUtilities.CreateInstance<QueuePause>(services, _time)),
        variables: variables);
}
