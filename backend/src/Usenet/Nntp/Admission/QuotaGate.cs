namespace Sluice.Usenet.Nntp.Admission;

/// <summary>
/// The data cap of one account as a gate for its commands (HLT-103). A command passes if the expected bytes of this command and of all outstanding
/// replies fit into the rest of the cap. Received bytes count immediately, so a reply in progress counts twice and the gate errs on the safe side.
/// </summary>
/// <remarks>Changed under the lock of the pool, and read without it, except where noted.</remarks>
internal sealed class QuotaGate(DataQuota? quota, ProviderTraffic traffic)
{
    // A pipeline of usual articles. Near the end of the cap each connection gets one command at a time, so that wrong sizes in the NZB cost at most one
    // article for each connection.
    private const long PipelineBytes = 8 << 20;

    private volatile Account _account = new(quota, traffic);

    public bool IsCapped => _account.Quota is not null;

    /// <summary>The state for an article of the usual size.</summary>
    public QuotaState State => _account.StateFor(ArticleRequest.UsualBytes);

    /// <summary>Whether a waiting fetch may be larger than the rest of the cap.</summary>
    public bool MayRefuse => _account.Left < ArticleRequest.MostLikelyBytes;

    public void Change(DataQuota? quota, ProviderTraffic traffic) => _account = new Account(quota, traffic);

    /// <summary>The state for this article, regardless of outstanding replies.</summary>
    public QuotaState StateFor(in ArticleRequest request) => _account.StateFor(request.LikelyBytes);

    /// <summary>Whether the command may be sent now. Under the lock of the pool.</summary>
    public bool Fits(in ArticleRequest request, List<ConnectionLoad> open)
    {
        if (!IsCapped)
            return true;
        var bytes = request.LikelyBytes;
        foreach (var load in open)
            bytes += load.LikelyBytes;
        return bytes <= _account.Left;
    }

    /// <summary>Whether so little is left that each of the open connections gets one command at a time.</summary>
    public bool IsNearEnd(int connections) => _account.Left < connections * PipelineBytes;

    /// <summary>The failure of a fetch that the account has no data left for.</summary>
    public static NntpException Reached() => new(NntpFault.QuotaReached, "The data cap of the account is used up.");

    private sealed record Account(DataQuota? Quota, ProviderTraffic Traffic)
    {
        public long Left => Quota?.Left(Traffic.Charged) ?? long.MaxValue;

        public QuotaState StateFor(long bytes) => Quota?.StateAt(Traffic.Charged, bytes) ?? QuotaState.Free;
    }
}
