using Sluice.Usenet.Probing;

namespace Sluice.Server.Queue.Steps;

/// <summary>Collects heads as they are found, because the probe may be stopped early (IMP-62).</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class FoundHeads(long segments)
{
    private readonly TaskCompletionSource _loss = new(TaskCreationOptions.RunContinuationsAsynchronously);

    // Guards the list.
    private readonly Lock _gate = new();
    private readonly List<FileHead> _heads = [];

    /// <summary>Completes when an essential file turns out to be unusable.</summary>
    public Task Loss => _loss.Task;

    public IReadOnlyList<FileHead> All
    {
        get
        {
            lock (_gate)
                return [.. _heads];
        }
    }

    public void Add(FileHead head)
    {
        lock (_gate)
            _heads.Add(head);
        // An incomplete head may improve with further probing. A missing or damaged article is final.
        if ((head.State != HeadState.Found || head.MissingArticles > 0) && ProbeVerdict.IsLost(head, segments))
            _loss.TrySetResult();
    }
}
