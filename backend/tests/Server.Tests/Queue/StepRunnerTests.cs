using System.Text;
using System.Text.Json;
using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Server.Events;
using Sluice.Server.History;
using Sluice.Server.Queue;
using Sluice.Server.Queue.Steps;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Auth;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Queue;

public sealed class StepRunnerTests : IAsyncDisposable
{
    private static readonly TimeSpan Timeout = TimeSpan.FromMinutes(3);

    private static readonly QueueOptions Options = new() { WorkerCount = 1, MaxItems = 0, ResumeThreshold = 0, StepTimeout = Timeout };

    private readonly ManualTimeProvider _time = new();
    private readonly EventFeed _events = new();
    private readonly QueueActivity _activity;
    private readonly ImportWork _work;

    public StepRunnerTests()
    {
        _activity = new QueueActivity(_events);
        _work = new ImportWork(
            new QueueItem { Id = "id", Name = "n", NzbName = "n.nzb", Category = "*", Folder = "f", NzbHash = "h" }, _time.GetUtcNow(), _time.GetTimestamp());
    }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public ValueTask DisposeAsync() => _work.DisposeAsync();

    [Fact]
    public async Task Step_without_progress_fails_as_stalled_after_two_runs()
    {
        var tries = 0;
        var step = new Step(async (progress, token) =>
        {
            tries++;
            _ = Task.Run(() => _time.Advance(Timeout), Token);
            await Task.Delay(System.Threading.Timeout.InfiniteTimeSpan, TimeProvider.System, token);
            return null;
        });

        var failure = await Runner(step).RunAsync(_work, Token);

        Assert.Equal(ImportFailure.Stalled("Slow"), failure);
        Assert.Equal(2, tries);
        Assert.Equal(2 * Timeout.TotalMilliseconds, Assert.Single(_work.Timings).Milliseconds);
    }

    [Fact]
    public async Task Progress_extends_the_deadline_and_updates_the_percentage()
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

            progress.Findings = new StepFindings(("things", 4));
            return Task.FromResult<ImportFailure?>(null);
        });

        Assert.Null(await Runner(Quick("Before", 10), step, Quick("After", 70)).RunAsync(_work, Token));
        Assert.Equal("4 things", Assert.Single(_work.Timings, timing => timing.Step == "Slow").Detail);
        Assert.Equal(["Before", "Slow", "After"], _work.Timings.Select(timing => timing.Step));
    }

    [Fact]
    public async Task Step_share_of_the_percentage_follows_its_weight()
    {
        Assert.Equal([("A", 0), ("A", 33), ("A", 66), ("B", 66), ("B", 83), ("B", 100)], await PercentagesAsync(("A", 20), ("B", 10)));
        Assert.Equal(
            [("A", 0), ("A", 25), ("A", 50), ("New", 50), ("New", 62), ("New", 75), ("B", 75), ("B", 87), ("B", 100)],
            await PercentagesAsync(("A", 20), ("New", 10), ("B", 10)));
    }

    [Fact]
    public async Task Steps_after_a_failure_are_not_run()
    {
        var refusal = ImportFailure.NoMedia();
        var step = new Step((_, _) => Task.FromResult<ImportFailure?>(refusal));

        Assert.Same(refusal, await Runner(step, Quick("After", 1)).RunAsync(_work, Token));

        Assert.Equal("Slow", Assert.Single(_work.Timings).Step);
    }

    [Fact]
    public async Task Steps_report_their_start_and_outcome()
    {
        using var watched = _events.Subscribe();
        var found = new Step((progress, _) =>
        {
            _time.Advance(TimeSpan.FromMilliseconds(412));
            progress.Findings = new StepFindings(("files", 3), ("heads", 5)) { Names = "Subject" };
            return Task.FromResult<ImportFailure?>(null);
        });
        var refused = new Step((_, _) => Task.FromResult<ImportFailure?>(ImportFailure.NoMedia())) { Name = "Last" };

        await Runner(found, refused).RunAsync(_work, Token);

        watched.Dispose();
        Assert.Equal(
            [
                """{"type":"job.step","id":"id","step":"Slow","state":"started","ms":0,"detail":{}}""",
                """{"type":"job.step","id":"id","step":"Slow","state":"finished","ms":412,"detail":{"files":3,"heads":5,"names":"Subject"}}""",
                """{"type":"job.step","id":"id","step":"Last","state":"started","ms":0,"detail":{}}""",
                """{"type":"job.step","id":"id","step":"Last","state":"failed","ms":0,"detail":{}}""",
            ],
            await watched.Events.ReadAllAsync(Token).Select(TextOf).ToListAsync(Token));
        Assert.Equal(["3 files, 5 heads, names from Subject", ""], _work.Timings.Select(timing => timing.Detail));
    }

    [Fact]
    public async Task Throwing_step_is_reported_as_failed()
    {
        using var watched = _events.Subscribe();
        var step = new Step((_, _) => throw new InvalidOperationException("broken"));

        await Assert.ThrowsAsync<InvalidOperationException>(() => Runner(step).RunAsync(_work, Token));

        watched.Dispose();
        var states = await watched.Events.ReadAllAsync(Token).OfType<JobStepEvent>().Select(step => step.State).ToListAsync(Token);
        Assert.Equal([StepState.Started, StepState.Failed], states);
    }

    [Fact]
    public async Task Canceled_work_is_not_a_stall()
    {
        using var cancel = new CancellationTokenSource();
        var step = new Step(async (progress, token) =>
        {
            await cancel.CancelAsync();
            token.ThrowIfCancellationRequested();
            return null;
        });

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => Runner(step).RunAsync(_work, cancel.Token));
    }

    /// <summary>Returns the progress that a client sees at the beginning, in the middle and at the end of each step.</summary>
    private async Task<IReadOnlyList<(string Step, int Percent)>> PercentagesAsync(params (string Name, int Weight)[] steps)
    {
        using var cancel = new CancellationTokenSource();
        _activity.Begin("id", steps[0].Name, _time.GetTimestamp(), cancel);
        var seen = new List<(string, int)>();
        Step Watched((string Name, int Weight) step) => new((progress, _) =>
        {
            foreach (var share in new[] { 0, 0.5, 1 })
            {
                progress.Report(share);
                seen.Add((_activity.Current["id"].Step, _activity.Current["id"].Percent));
            }

            return Task.FromResult<ImportFailure?>(null);
        })
        { Name = step.Name, Weight = step.Weight };

        Assert.Null(await Runner([.. steps.Select(Watched)]).RunAsync(_work, Token));
        _activity.End("id");
        return seen;
    }

    private static string TextOf(LiveEvent happened)
    {
        using var text = new MemoryStream();
        using (var json = new Utf8JsonWriter(text))
            happened.Write(json);
        return Encoding.UTF8.GetString(text.ToArray());
    }

    private static Step Quick(string name, int weight) => new((_, _) => Task.FromResult<ImportFailure?>(null)) { Name = name, Weight = weight };

    private StepRunner Runner(params IImportStep[] steps) =>
        new(steps, _activity, _ => TimeSpan.MaxValue, new FixedOptions<QueueOptions>(Options), _time, NullLogger<StepRunner>.Instance);

    private sealed class Step(Func<StepProgress, CancellationToken, Task<ImportFailure?>> run) : IImportStep
    {
        public string Name { get; init; } = "Slow";

        public int Weight { get; init; } = 20;

        public Task<ImportFailure?> RunAsync(ImportWork work, StepProgress progress, CancellationToken cancellationToken) => run(progress, cancellationToken);
    }
}
