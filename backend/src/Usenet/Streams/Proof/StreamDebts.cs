namespace Sluice.Usenet.Streams.Proof;

/// <summary>
/// The bytes that one stream gave its reader before their articles were verified. The stream tracks them, not the slot, because the slot may be released long
/// before the article arrives. One failed debt makes the stream fail for good.
/// </summary>
/// <remarks>Thread-safe. <c>_gate</c> guards the list; nothing is called while it is held.</remarks>
internal sealed class StreamDebts
{
    // Each debt may hold a segment beyond the window. A reader with this many open debts gets only verified bytes until some are settled.
    private const int Most = 8;

    private readonly Lock _gate = new();
    private readonly List<SegmentDebt> _open = [];
    private TaskCompletionSource? _settled;
    private volatile WithdrawnBytesException? _failure;
    private bool _isCancelled;
    private volatile bool _hasBegun;

    /// <summary>Whether the reader has bytes or is about to get them, so that an error response is no longer possible.</summary>
    public bool HasBegun => _hasBegun;

    /// <summary>Called by the stream once the reader has bytes.</summary>
    public void Begin() => _hasBegun = true;

    /// <summary>Starts a debt for one segment.</summary>
    /// <returns>Null if nothing may be served before it is verified.</returns>
    public SegmentDebt? TryBegin(int segment)
    {
        lock (_gate)
            return _open.Count < Most ? new SegmentDebt(this, segment) : null;
    }

    /// <exception cref="WithdrawnBytesException">Bytes already served are wrong or can no longer be verified.</exception>
    public void ThrowIfBad()
    {
        if (_failure is { } failure)
            throw new WithdrawnBytesException(failure.Segment, failure.InnerException);
    }

    /// <summary>Waits until all debts are settled, or any fails.</summary>
    /// <exception cref="WithdrawnBytesException">Bytes already served are wrong or can no longer be verified.</exception>
    public ValueTask WaitSettledAsync(CancellationToken cancellationToken)
    {
        ThrowIfBad();
        return FindSettlement() is { } settling ? WaitAsync(settling, cancellationToken) : ValueTask.CompletedTask;
    }

    /// <summary>Closes all debts, because the stream is closed; no load continues for this stream.</summary>
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

    /// <summary>Called by a debt before the reader gets its first bytes.</summary>
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
