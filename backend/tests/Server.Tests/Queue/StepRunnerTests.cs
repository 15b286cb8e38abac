using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Server.History;
using Sluice.Server.Queue;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Auth;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Queue;

public sealed class StepRunnerTests
{
    private static readonly TimeSpan Timeout = TimeSpan.FromMinutes(3);

    private static readonly QueueOptions Options = new() { WorkerCount = 1, MaxItems = 0, ResumeThreshold = 0, StepTimeout = Timeout };

    private readonly ManualTimeProvider _time = new();
    private readonly QueueActivity _activity = new();
    private readonly ImportWork _work;

    public StepRunnerTests() => _work = new ImportWork(
        new QueueItem { Id = "id", Name = "n", NzbName = "n.nzb", Category = "*", Folder = "f", NzbHash = "h" }, _time.GetUtcNow(), _time.GetTimestamp());

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Step_without_progress_is_run_twice_and_then_stalled()
    {
        var tries = 0;
        var step = new Step(async (progress, token) =>
        {
            tries++;
            _ = Task.Run(() => _time.Advance(Timeout), Token);
            await Task.Delay(System.Threading.Timeout.InfiniteTimeSpan, TimeProvider.System, token);
            return null;
        });

        var failure = await Runner().RunAsync(step, _work, Token);

        Assert.Equal(ImportFailure.Stalled("Slow"), failure);
        Assert.Equal(2, tries);
        Assert.Equal(2 * Timeout.TotalMilliseconds, Assert.Single(_work.Timings).Milliseconds);
    }

    [Fact]
    public async Task Progress_pushes_the_deadline_back_and_shows_in_percent()
    {
        using var cancel = new CancellationTokenSource();
        _activity.Begin("id", "Slow", _time.GetTimestamp(), cancel);
        var step = new Step((progress, token) =>
        {
            foreach (var share in new[] { 0.25, 0.5, 0.1, 1 })
            {
                _time.Advance(Timeout - TimeSpan.FromSeconds(1));
                progress.Report(share);
                token.ThrowIfCancellationRequested();
                Assert.Equal(share == 0.25 ? 15 : share < 1 ? 20 : 30, _activity.Current["id"].Percent);
            }

            progress.Detail = "4 things";
            return Task.FromResult<ImportFailure?>(null);
        });

        Assert.Null(await Runner().RunAsync(step, _work, Token));
        Assert.Equal("4 things", Assert.Single(_work.Timings).Detail);
    }

    [Fact]
    public async Task Cancelled_work_is_no_stall()
    {
        using var cancel = new CancellationTokenSource();
        var step = new Step(async (progress, token) =>
        {
            await cancel.CancelAsync();
            token.ThrowIfCancellationRequested();
            return null;
        });

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => Runner().RunAsync(step, _work, cancel.Token));
    }

    private StepRunner Runner() => new(_activity, new FixedOptions<QueueOptions>(Options), _time, NullLogger<StepRunner>.Instance);

    private sealed class Step(Func<StepProgress, CancellationToken, Task<ImportFailure?>> run) : IImportStep
    {
        public string Name => "Slow";

        public int From => 10;

        public int To => 30;

        public Task<ImportFailure?> RunAsync(ImportWork work, StepProgress progress, CancellationToken cancellationToken) => run(progress, cancellationToken);
    }
}
