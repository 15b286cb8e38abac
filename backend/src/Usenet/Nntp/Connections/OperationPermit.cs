namespace Sluice.Usenet.Nntp.Connections;

/// <summary>The use of one connection by one lane. One owner, who disposes it once; a second dispose does nothing.</summary>
public sealed class OperationPermit : IDisposable
{
    private GlobalOperationLimiter? _limiter;

    internal OperationPermit(GlobalOperationLimiter limiter, OperationLane lane)
    {
        _limiter = limiter;
        Lane = lane;
    }

    /// <summary>The lane that holds it.</summary>
    public OperationLane Lane { get; }

    /// <summary>Gives the use back and wakes the pools in which fetches wait for one.</summary>
    public void Dispose() => Interlocked.Exchange(ref _limiter, null)?.Return(Lane);
}
