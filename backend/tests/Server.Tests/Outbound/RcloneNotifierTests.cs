using Microsoft.Extensions.Logging;
using Sluice.Server.Outbound;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Auth;
using Sluice.Server.Tests.Providers;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Outbound;

/// <summary>Calls to rclone: DAV-17.</summary>
public sealed class RcloneNotifierTests : IAsyncLifetime
{
    private static readonly string[] FoldersOfRel =
        ["completed-symlinks/tv", "completed-symlinks/tv/Rel", "content/tv", "content/tv/Rel", "nzbs", "nzbs/tv"];

    private readonly ManualTimeProvider _time = new();
    private readonly LogLines _lines = new(typeof(RcloneNotifier).FullName!);
    private FakeRclone _rclone = null!;
    private FixedOptions<RcloneOptions> _options = null!;
    private RcloneClient _client = null!;
    private RcloneNotifier _notifier = null!;
    private readonly CancellationTokenSource _ending = new();
    private Task _running = Task.CompletedTask;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync()
    {
        _rclone = await FakeRclone.StartAsync();
        _options = new FixedOptions<RcloneOptions>(
            new RcloneOptions { MountDir = "/mnt", RcEnabled = true, RcUrl = new Uri(_rclone.Address + "/rc/"), RcUser = "u", RcPassword = "p:\u00e9" });
        _client = new RcloneClient(_time);
        _notifier = new RcloneNotifier(_client, _options, _time, _lines.CreateLogger<RcloneNotifier>());
        _running = _notifier.RunAsync(_ending.Token);
    }

    public async ValueTask DisposeAsync()
    {
        await _ending.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => _running);
        _ending.Dispose();
        _client.Dispose();
        await _rclone.DisposeAsync();
        _lines.Dispose();
    }

    [Fact]
    public async Task Release_change_makes_rclone_forget_its_folders_and_parents()
    {
        _notifier.ReleaseChanged("tv", "Rel");

        var call = await _rclone.NextAsync(Token);
        Assert.Equal("POST /rc/vfs/forget", call.Target);
        Assert.Equal("Basic " + Convert.ToBase64String("u:p:\u00e9"u8), call.Authorization);
        Assert.Equal(FoldersOfRel, call.Folders);
    }

    [Fact]
    public async Task Rclone_without_a_user_gets_no_credentials()
    {
        _options.Change(_options.CurrentValue with { RcUser = "", RcPassword = "" });
        _notifier.ReleaseChanged("tv", "Rel");

        Assert.Equal("", (await _rclone.NextAsync(Token)).Authorization);
    }

    [Fact]
    public async Task Changes_during_a_call_are_sent_in_one_further_call()
    {
        var gate = new TaskCompletionSource();
        _rclone.Gate = gate.Task;
        _notifier.ReleaseChanged("tv", "Rel");
        await _rclone.NextAsync(Token);

        foreach (var name in new[] { "A", "B", "A", "C" })
            _notifier.ReleaseChanged("tv", name);
        gate.SetResult();

        var call = await _rclone.NextAsync(Token);
        Assert.Equal(["content/tv", "content/tv/A", "content/tv/B", "content/tv/C"], call.Folders.Where(folder => folder.StartsWith("content", StringComparison.Ordinal)));
        Assert.Equal(0, _rclone.Waiting);
    }

    [Fact]
    public async Task Too_many_changes_become_a_forget_all_call()
    {
        var gate = new TaskCompletionSource();
        _rclone.Gate = gate.Task;
        _notifier.ReleaseChanged("tv", "Rel");
        await _rclone.NextAsync(Token);

        for (var i = 0; i < ChangedFolders.MaxFolders; i++)
            _notifier.ReleaseChanged("tv", $"{i}");
        gate.SetResult();

        Assert.Empty((await _rclone.NextAsync(Token)).Folders);
        _notifier.ReleaseChanged("tv", "Rel");
        Assert.Equal(FoldersOfRel, (await _rclone.NextAsync(Token)).Folders);
    }

    [Theory]
    [InlineData(401)]
    [InlineData(500)]
    [InlineData(307)]
    public async Task Failed_call_is_logged_and_sent_with_the_next_change(int status)
    {
        _rclone.Status = status;
        _notifier.ReleaseChanged("tv", "Rel");
        await _rclone.NextAsync(Token);
        Assert.Equal(
            $"Could not notify rclone of changed folders, so its mount may show old listings: it answered {status}", await _lines.NextAsync(Token));
        _notifier.ReleaseChanged("tv", "Rel");
        await _rclone.NextAsync(Token);
        Assert.Equal($"Still could not notify rclone of changed folders: it answered {status}", await _lines.NextAsync(Token));
        Assert.Equal(0, _rclone.Waiting);

        _rclone.Status = 200;
        _notifier.ReleaseChanged("movies", "Film");

        Assert.Superset(FoldersOfRel.ToHashSet(), (await _rclone.NextAsync(Token)).Folders.ToHashSet());
        Assert.Equal("Notified rclone of 11 changed folders (0 for all)", await _lines.NextAsync(Token));
        Assert.Equal("Notifying rclone of changed folders works again", await _lines.NextAsync(Token));
    }

    [Fact]
    public async Task Failed_call_is_retried_with_exponential_backoff()
    {
        _rclone.Status = 500;
        _notifier.ReleaseChanged("tv", "Rel");
        await _rclone.NextAsync(Token);
        await _lines.NextAsync(Token);

        foreach (var wait in new[] { 10, 20, 40, 80, 160, 320, 600, 600 })
        {
            await WaitForTimerAsync();
            _time.Advance(TimeSpan.FromSeconds(wait) - TimeSpan.FromTicks(1));
            Assert.Equal(0, _rclone.Waiting);
            _time.Advance(TimeSpan.FromTicks(1));
            Assert.Equal(FoldersOfRel, (await _rclone.NextAsync(Token)).Folders);
            await _lines.NextAsync(Token);
        }

        _rclone.Status = 200;
        await WaitForTimerAsync();
        _time.Advance(RcloneNotifier.LongestRetry);
        Assert.Equal(FoldersOfRel, (await _rclone.NextAsync(Token)).Folders);
        Assert.Equal("Notified rclone of 6 changed folders (0 for all)", await _lines.NextAsync(Token));
    }

    [Fact]
    public async Task Call_without_a_response_times_out_after_10_s()
    {
        _rclone.Gate = new TaskCompletionSource().Task;
        _notifier.ReleaseChanged("tv", "Rel");
        await _rclone.NextAsync(Token);
        _time.Advance(RcloneClient.Deadline);
        Assert.EndsWith("no answer within 10 s", await _lines.NextAsync(Token), StringComparison.Ordinal);

        _rclone.Gate = Task.CompletedTask;
        _notifier.ReleaseChanged("tv", "Rel");
        Assert.Equal(FoldersOfRel, (await _rclone.NextAsync(Token)).Folders);
    }

    [Fact]
    public async Task Changes_while_disabled_are_never_sent()
    {
        _options.Change(_options.CurrentValue with { RcEnabled = false });
        _notifier.ReleaseChanged("tv", "Before");
        _options.Change(_options.CurrentValue with { RcEnabled = true });
        _notifier.ReleaseChanged("tv", "Rel");

        Assert.Equal(FoldersOfRel, (await _rclone.NextAsync(Token)).Folders);
        Assert.Equal(0, _rclone.Waiting);
    }

    [Fact]
    public async Task Missing_address_and_refused_connection_are_logged()
    {
        var address = _options.CurrentValue.RcUrl;
        _options.Change(_options.CurrentValue with { RcUrl = null });
        _notifier.ReleaseChanged("tv", "Rel");
        Assert.EndsWith("rclone.host is empty", await _lines.NextAsync(Token), StringComparison.Ordinal);

        // Port 1 is closed, so connections to it are refused.
        _options.Change(_options.CurrentValue with { RcUrl = new Uri("http://127.0.0.1:1/") });
        _notifier.ReleaseChanged("tv", "Rel");
        Assert.Contains("127.0.0.1:1", await _lines.NextAsync(Token), StringComparison.Ordinal);

        _options.Change(_options.CurrentValue with { RcUrl = address });
        _notifier.ReleaseChanged("tv", "Rel");
        Assert.Equal(FoldersOfRel, (await _rclone.NextAsync(Token)).Folders);
    }

    private async Task WaitForTimerAsync()
    {
        while (_time.Waiting == 0)
            await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System, Token);
    }
}
