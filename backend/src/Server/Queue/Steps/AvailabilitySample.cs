using Sluice.Server.Library;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;

namespace Sluice.Server.Queue.Steps;

/// <summary>The results of a sample so far.</summary>
/// <param name="Answered">Number of articles known to be present or missing.</param>
/// <param name="Missing">Number of articles that no provider has.</param>
internal readonly record struct SampleCount(int Answered, int Missing)
{
    public bool IsSevere => Missing * 10 > Answered;
}

/// <summary>Checks a sample of the articles while the heads are fetched (IMP-60). Small batches let each answer count early.</summary>
/// <remarks>Thread-safe. Disposal cancels open requests.</remarks>
internal sealed class AvailabilitySample : IAsyncDisposable
{
    public const int MaxArticles = 64;

    // Commands per flush. The first batch is itself an even sample.
    private const int Batch = 8;

    private readonly CancellationTokenSource _ending = new();

    // Guards the fields below.
    private readonly Lock _gate = new();
    private readonly List<MessageId> _missing = [];
    private int _open;
    private int _answered;

    private readonly TaskCompletionSource _severe = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly Task _first;
    private readonly Task _all;

    private AvailabilitySample(IArticleSource source, ReleaseUse release, IReadOnlyList<int> places)
    {
        _open = places.Count;
        List<Task> batches = [.. places.Chunk(Batch).Select(batch => AskAsync(source, release, batch))];
        _first = batches.Count > 0 ? batches[0] : Task.CompletedTask;
        _all = Task.WhenAll(batches);
    }

    /// <param name="release">The message-ids, which must remain open until disposal.</param>
    /// <param name="places">Positions in the message-id list, chosen by <see cref="SegmentSample"/>.</param>
    public static AvailabilitySample Start(IArticleSource source, ReleaseUse release, IReadOnlyList<int> places) => new(source, release, places);

    public bool IsComplete
    {
        get
        {
            lock (_gate)
                return _open == 0;
        }
    }

    /// <summary>Completes once every article has been answered, if more than a tenth are missing.</summary>
    public Task Severe => _severe.Task;

    public SampleCount Count
    {
        get
        {
            lock (_gate)
                return new SampleCount(_answered, _missing.Count);
        }
    }

    public IReadOnlyList<MessageId> Missing
    {
        get
        {
            lock (_gate)
                return [.. _missing];
        }
    }

    /// <summary>Waits for the first batch, which is itself an even sample.</summary>
    /// <inheritdoc cref="WaitForAllAsync"/>
    public Task WaitForFirstAsync(TimeSpan patience, TimeProvider time, CancellationToken cancellationToken) =>
        WaitAsync(_first, patience, time, cancellationToken);

    /// <summary>Waits for all answers.</summary>
    /// <param name="patience">Maximum wait. Later answers are ignored.</param>
    public Task WaitForAllAsync(TimeSpan patience, TimeProvider time, CancellationToken cancellationToken) =>
        WaitAsync(_all, patience, time, cancellationToken);

    public async ValueTask DisposeAsync()
    {
        await _ending.CancelAsync();
        try
        {
            await _all;
        }
        catch (Exception e) when (e is OperationCanceledException or IOException or NntpException)
        {
            // Ignore the exception, because an article without an answer does not count.
        }

        _ending.Dispose();
    }

    private static async Task WaitAsync(Task answers, TimeSpan patience, TimeProvider time, CancellationToken cancellationToken)
    {
        try
        {
            await answers.WaitAsync(patience, time, cancellationToken);
        }
        catch (TimeoutException)
        {
            // Ignore the timeout, because an article without an answer does not count.
        }
    }

    private async Task AskAsync(IArticleSource source, ReleaseUse release, int[] places)
    {
        var segments = new SegmentIds[places.Length];
        for (var i = 0; i < places.Length; i++)
            segments[i] = await release.Take(SegmentPlaces.Range(places[i], 1)).GetAsync(0, _ending.Token);

        List<SegmentIds> left = [.. segments.Where(segment => !segment.Primary.IsEmpty)];
        // A segment that was never posted does not count as missing.
        Note(segments.Length - left.Count, 0, []);
        var answers = await AskAsync(source, [.. left.Select(segment => segment.Primary)]);
        var (answered, gone) = (0, new List<MessageId>());
        for (var i = 0; i < left.Count; i++)
        {
            var isGone = answers[i].IsMissingEverywhere && !await HasCopyAsync(source, left[i].Fallbacks);
            answered += answers[i].IsPresent || answers[i].IsMissingEverywhere ? 1 : 0;
            if (isGone)
                gone.Add(left[i].Primary);
        }

        Note(answered, answered, gone);
    }

    /// <summary>Whether a provider has, or may have, a copy under a fallback message-id.</summary>
    private async Task<bool> HasCopyAsync(IArticleSource source, IReadOnlyList<MessageId> fallbacks) =>
        fallbacks.Count > 0 && (await AskAsync(source, [.. fallbacks])).Any(answer => !answer.IsMissingEverywhere);

    private async Task<ArticlePresence[]> AskAsync(IArticleSource source, MessageId[] ids)
    {
        var answers = new ArticlePresence[ids.Length];
        if (ids.Length > 0)
            await source.StatAsync(new StatRequest(ids, OperationLane.Import), answers, _ending.Token);
        return answers;
    }

    private void Note(int closed, int answered, List<MessageId> gone)
    {
        lock (_gate)
        {
            _open -= closed;
            _answered += answered;
            _missing.AddRange(gone);
            if (_open == 0 && new SampleCount(_answered, _missing.Count).IsSevere)
                _severe.TrySetResult();
        }
    }
}
