namespace Sluice.Usenet.Streams;

/// <summary>
/// Fetches whose slots were given back before they ended: they are cancelled, so that what is still queued never reaches the
/// wire, and awaited before the window is gone. Cancelling runs on another thread, because a reader that moves on waits for none.
/// </summary>
/// <remarks>Thread-safe. Holds no more than twice what has not ended, and a few.</remarks>
/// <param name="share">What the fetches are charged to until they have ended.</param>
internal sealed class UnwantedFetches(BudgetShare share)
{
    private const int Few = 16;

    private readonly Lock _gate = new();
    private readonly List<Task> _ending = [];
    private List<CancellationTokenSource> _uncancelled = [];

    // What has ended is looked for each time that the list has grown to this.
    private int _most = Few;

    /// <summary>Takes over a fetch; <see cref="Cancel"/> or <see cref="CancelSoon"/> follows.</summary>
    /// <param name="fetch">Its end; never fails.</param>
    /// <param name="cancellation">Gives it up; owned from here on. Null where it ends by itself, or goes on to its end all the same.</param>
    /// <param name="charge">Bytes charged for it.</param>
    public void Add(ValueTask fetch, CancellationTokenSource? cancellation, long charge)
    {
        lock (_gate)
        {
            if (cancellation is not null)
                _uncancelled.Add(cancellation);
            Keep(ReturnWhenEndedAsync(fetch, charge));
        }
    }

    /// <summary>Has everything that was added cancelled by another thread.</summary>
    public void CancelSoon()
    {
        lock (_gate)
        {
            if (_uncancelled.Count == 0)
                return;
            Keep(Task.Run(Cancel));
        }
    }

    /// <summary>Cancels everything that was added, in the order in which it was.</summary>
    public void Cancel()
    {
        List<CancellationTokenSource> batch;
        lock (_gate)
        {
            batch = _uncancelled;
            _uncancelled = [];
        }

        foreach (var cancellation in batch)
        {
            cancellation.Cancel();
            cancellation.Dispose();
        }
    }

    /// <summary>Waits until all have ended.</summary>
    public Task WhenEndedAsync()
    {
        lock (_gate)
            return Task.WhenAll(_ending);
    }

    private void Keep(Task ending)
    {
        _ending.Add(ending);
        if (_ending.Count < _most)
            return;
        _ending.RemoveAll(static task => task.IsCompletedSuccessfully);
        _most = Math.Max(Few, 2 * _ending.Count);
    }

    private async Task ReturnWhenEndedAsync(ValueTask fetch, long charge)
    {
        await fetch;
        share.Return(charge);
    }
}
