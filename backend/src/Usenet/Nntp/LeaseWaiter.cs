namespace Sluice.Usenet.Nntp;

/// <summary>A fetch that waits for a connection of one pool.</summary>
internal sealed class LeaseWaiter(ArticleRequest request)
{
    private readonly TaskCompletionSource<ConnectionLease> _granted = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>Number of classes; 0 is served first.</summary>
    public const int Classes = 4;

    public ArticleRequest Request => request;

    /// <summary>A waiting reader first, then what is fetched ahead, then imports, then health checks.</summary>
    public int Class => ClassOf(request);

    public static int ClassOf(ArticleRequest request) => request.Lane switch
    {
        OperationLane.Playback => request.Urgency?.IsHeadOfLine == true ? 0 : 1,
        OperationLane.Import => 2,
        _ => 3,
    };

    public bool IsOver => _granted.Task.IsCompleted;

    public bool TryGrant(ConnectionLease lease) => _granted.TrySetResult(lease);

    public void Fail(NntpException failure) => _granted.TrySetException(failure);

    /// <summary>Waits for the grant, the deadline or the token; a grant that comes too late is given back.</summary>
    public async Task<ConnectionLease> WaitAsync(TimeSpan deadline, TimeProvider time, CancellationToken cancellationToken)
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
