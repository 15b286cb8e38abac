using Sluice.Usenet.Probing;

namespace Sluice.Server.Queue.Steps;

/// <summary>The heads of a release as they are found, for a probe that is not carried to its end (IMP-62).</summary>
/// <remarks>Thread-safe.</remarks>
/// <param name="segments">Segments of the payload.</param>
internal sealed class FoundHeads(long segments)
{
    private readonly TaskCompletionSource _loss = new(TaskCreationOptions.RunContinuationsAsynchronously);

    // Guards the list.
    private readonly Lock _gate = new();
    private readonly List<FileHead> _heads = [];

    /// <summary>Ends once a file is found that the release cannot do without and that cannot be used.</summary>
    public Task Loss => _loss.Task;

    /// <summary>Those found so far.</summary>
    public IReadOnlyList<FileHead> All
    {
        get
        {
            lock (_gate)
                return [.. _heads];
        }
    }

    /// <summary>Takes the next one.</summary>
    public void Add(FileHead head)
    {
        lock (_gate)
            _heads.Add(head);
        // A head may say too little until it is probed further; only an article that is gone or damaged is the end.
        if ((head.State != HeadState.Found || head.MissingArticles > 0) && ProbeVerdict.IsLost(head, segments))
            _loss.TrySetResult();
    }
}
