namespace Sluice.Usenet.Streams.Proof;

/// <summary>
/// The bytes that one stream gave its reader before their articles were proved. The stream owes them, not the slot, because the slot may be released
/// long before the article arrives. One failed debt makes the stream fail for good.
/// </summary>
/// <remarks>Thread-safe. <c>_gate</c> guards the list; nothing is called while it is held.</remarks>
internal sealed class StreamDebts
{
    // Each debt may hold a segment beyond the window. A reader that leaves this many behind gets only proved bytes until some are settled.
    private const int Most = 8;

    private readonly Lock _gate = new();
    private readonly List<SegmentDebt> _open = [];
    private TaskCompletionSource? _settled;
    private volatile WithdrawnBytesException? _failure;
    private bool _isCancelled;
    private volatile bool _hasBegun;

    /// <summary>Whether the reader has bytes or is about to, so that its response can no longer be refused.</summary>
    public bool HasBegun => _hasBegun;

    /// <summary>Called by the stream once the reader has bytes.</summary>
    public void Begin() => _hasBegun = true;

    /// <summary>Starts a debt for one segment.</summary>
    /// <returns>Null if nothing may be served before it is proved.</returns>
    public SegmentDebt? TryBegin(int segment)
    {
        lock (_gate)
            return _open.Count < Most ? new SegmentDebt(this, segment) : null;
    }

    /// <exception cref="WithdrawnBytesException">Bytes that the reader has are wrong or can no longer be proved.</exception>
    public void ThrowIfBad()
    {
        if (_failure is { } failure)
            throw new WithdrawnBytesException(failure.Segment, failure.InnerException);
    }

    /// <summary>Waits until all debts are settled, or any fails.</summary>
    /// <exception cref="WithdrawnBytesException">Bytes that the reader has are wrong or can no longer be proved.</exception>
    public ValueTask WaitSettledAsync(CancellationToken cancellationToken)
    {
        ThrowIfBad();
        return FindSettlement() is { } settling ? WaitAsync(settling, cancellationToken) : ValueTask.CompletedTask;
    }

    /// <summary>Closes all debts, because the stream is closed; no load continues for it.</summary>
    public void Cancel()
    {
        SegmentDebt[] open;
        lock (_gate)
        {
            _isCancelled = true;
            open = [.. _open];
            _open.Clear();
            _settled?.TrySetResult();
        }

        foreach (var debt in open)
            debt.Cancel()?.Invoke();
    }

    /// <summary>Called by a debt before the reader takes its first bytes.</summary>
    /// <returns>False if the stream is closed.</returns>
    public bool TryOpen(SegmentDebt debt)
    {
        lock (_gate)
        {
            if (_isCancelled)
                return false;
            _open.Add(debt);
            _hasBegun = true;
            return true;
        }
    }

    /// <summary>Called by a debt when it is settled.</summary>
    public void Close(SegmentDebt debt, WithdrawnBytesException? failure)
    {
        lock (_gate)
        {
            if (!_open.Remove(debt))
                return;
            _failure ??= failure;
            if (_open.Count == 0 || failure is not null)
                _settled?.TrySetResult();
        }
    }

    private async ValueTask WaitAsync(Task settling, CancellationToken cancellationToken)
    {
        await settling.WaitAsync(cancellationToken);
        ThrowIfBad();
    }

    private Task? FindSettlement()
    {
        lock (_gate)
        {
            if (_open.Count == 0 || _failure is not null)
                return null;
            if (_settled is null or { Task.IsCompleted: true })
                _settled = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            return _settled.Task;
        }
    }
}
