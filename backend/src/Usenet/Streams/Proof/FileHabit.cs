namespace Sluice.Usenet.Streams.Proof;

/// <summary>The habit of one posted file: learned when the file is probed, then updated by each article proved while it is read.</summary>
/// <remarks>Thread-safe; shared by all readers of the file.</remarks>
/// <param name="known">The habit known so far.</param>
/// <param name="learned">Called with the habit whenever more is known, by the load that proved the article, so it must be quick. May be null.</param>
public sealed class FileHabit(ArticleHabit known = default, Action<ArticleHabit>? learned = null)
{
    // Guards both fields. Nothing is called while it is held.
    private readonly Lock _gate = new();
    private ArticleHabit _known = known;
    private TaskCompletionSource? _question;

    public ArticleHabit Known
    {
        get
        {
            lock (_gate)
                return _known;
        }
    }

    public void Learn(ArticleHabit shown)
    {
        ArticleHabit all;
        lock (_gate)
        {
            all = _known.And(shown);
            if (all == _known)
                return;
            _known = all;
        }

        learned?.Invoke(all);
    }

    /// <summary>
    /// Claims the question that decides an unknown part of the habit. Only one article at a time is confirmed by a second copy, because its answer usually
    /// settles all others. Otherwise a post without checksums would be fetched twice for a whole window.
    /// </summary>
    /// <returns>Null if the caller must ask and then call <see cref="EndQuestion"/>; otherwise a task that ends with the question of another caller.</returns>
    internal Task? ClaimQuestion()
    {
        lock (_gate)
        {
            if (_question is { } asked)
                return asked.Task;
            _question = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            return null;
        }
    }

    /// <summary>Ends the question that the caller claimed. Call it after Learn, so that waiting callers find the answer.</summary>
    internal void EndQuestion()
    {
        TaskCompletionSource? question;
        lock (_gate)
            (question, _question) = (_question, null);
        question?.SetResult();
    }
}
