namespace Sluice.Usenet.Streams.Reading;

/// <summary>
/// The bytes that one stream has given to its reader before their articles were proved. They are owed by the stream and not by the
/// slot that held them, which may be given back long before the article has come. One debt that ends badly fails the stream for good.
/// </summary>
/// <remarks>Thread-safe. <c>_gate</c> guards the list; nothing is called under it.</remarks>
internal sealed class StreamDebts
{
    // Each may keep a segment beyond what the window holds. A reader that leaves so many behind is served verified-first for a while.
    private const int Most = 8;

    private readonly Lock _gate = new();
    private readonly List<SegmentDebt> _open = [];
    private TaskCompletionSource? _settled;
    private volatile WithdrawnBytesException? _failure;
    private bool _isCancelled;
    private volatile bool _hasBegun;

    /// <summary>Whether the reader has bytes, or is about to: an answer that has begun cannot be refused any more.</summary>
    public bool HasBegun => _hasBegun;

    /// <summary>By the stream: the reader has bytes.</summary>
    public void Begin() => _hasBegun = true;

    /// <summary>Begins to take note of one segment.</summary>
    /// <returns>Null where nothing may leave before it is proved.</returns>
    public SegmentDebt? TryBegin(int segment)
    {
        lock (_gate)
            return _open.Count < Most ? new SegmentDebt(this, segment) : null;
    }

    /// <summary>Throws if bytes that the reader has are wrong or cannot be proved any more.</summary>
    /// <exception cref="WithdrawnBytesException">Some are.</exception>
    public void ThrowIfBad()
    {
        if (_failure is { } failure)
            throw new WithdrawnBytesException(failure.Segment, failure.InnerException);
    }

    /// <summary>Waits until everything is settled, or something badly.</summary>
    /// <exception cref="WithdrawnBytesException">Bytes that the reader has are wrong or cannot be proved any more.</exception>
    public ValueTask PaidAsync(CancellationToken cancellationToken)
    {
        ThrowIfBad();
        return Settling() is { } settling ? WaitAsync(settling, cancellationToken) : ValueTask.CompletedTask;
    }

    /// <summary>The stream is closed: nothing is owed any more, and no load goes on for it.</summary>
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
            debt.Cancel()?.Leave();
    }

    /// <summary>By a debt: the reader is about to take its first bytes.</summary>
    /// <returns>False when the stream is closed.</returns>
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

    /// <summary>By a debt: it is settled.</summary>
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

    private Task? Settling()
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
