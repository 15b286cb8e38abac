namespace Sluice.Usenet.Nntp;

/// <summary>A fetch that waits for a connection of one pool.</summary>
internal sealed class LeaseWaiter
{
    // What STAT and other commands without a body cost in a queue that shares by bytes.
    private const long SmallestCost = 512;

    private readonly TaskCompletionSource<ConnectionLease> _granted = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public LeaseWaiter(ArticleRequest request)
    {
        Request = request;
        Place = new LinkedListNode<LeaseWaiter>(this);
    }

    public ArticleRequest Request { get; }

    /// <summary>Bytes that serving it is worth.</summary>
    public long Cost => Math.Max(Request.ExpectedBytes, SmallestCost);

    /// <summary>Where it waits; in no list once it does not. Guarded by the lock of the pool.</summary>
    public LinkedListNode<LeaseWaiter> Place { get; }

    public bool TryGrant(ConnectionLease lease) => _granted.TrySetResult(lease);

    public void Fail(NntpException failure) => _granted.TrySetException(failure);

    /// <summary>Waits for its turn, which comes earlier once a reader waits for the article.</summary>
    /// <param name="shared">Deadlines and the clock.</param>
    /// <param name="raise">Called when a reader begins to wait.</param>
    /// <param name="cancellationToken">Gives the wait up.</param>
    /// <exception cref="NntpException">Nothing became free in time, or the provider cannot be reached.</exception>
    public async ValueTask<ConnectionLease> WaitAsync(SharedResources shared, Action<LeaseWaiter> raise, CancellationToken cancellationToken)
    {
        if (Request.Urgency is not { } urgency)
            return await WaitAsync(shared.Options.LeaseTimeout, shared.Time, cancellationToken);

        var raised = () => raise(this);
        urgency.Raised += raised;
        if (urgency.IsHeadOfLine)
            raised();
        try
        {
            // Fetches ahead wait for their turn behind a slow line; nobody misses them before they are raised.
            var deadline = urgency.IsHeadOfLine ? shared.Options.LeaseTimeout : shared.Options.AheadTimeout;
            return await WaitAsync(deadline, shared.Time, cancellationToken);
        }
        finally
        {
            urgency.Raised -= raised;
        }
    }

    /// <summary>Waits for the grant, the deadline or the token; a grant that comes too late is given back.</summary>
    private async Task<ConnectionLease> WaitAsync(TimeSpan deadline, TimeProvider time, CancellationToken cancellationToken)
    {
        try
        {
            return await _granted.Task.WaitAsync(deadline, time, cancellationToken);
        }
        catch (Exception error) when (error is TimeoutException or OperationCanceledException)
        {
            if (!_granted.TrySetCanceled(CancellationToken.None))
                await GiveBackAsync();
            cancellationToken.ThrowIfCancellationRequested();
            throw new NntpException(NntpFault.NoConnection, "No connection became free in time.", error);
        }
    }

    /// <summary>The answer came at the same moment as the deadline or the token.</summary>
    private async Task GiveBackAsync()
    {
        try
        {
            (await _granted.Task).Dispose();
        }
        catch (NntpException)
        {
            // There is no grant to give back, and the caller has its own reason by now.
        }
    }
}
