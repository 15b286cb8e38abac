namespace Sluice.Usenet.Streams.Proof;

/// <summary>The evidence that a posted file's articles carry: learned when the file is probed, then updated by each article verified during reading.</summary>
/// <remarks>Thread-safe; shared by all readers of the file.</remarks>
/// <param name="known">The habit known so far.</param>
/// <param name="learned">Called with the habit when more is known. Must be quick, because the load that verified the article calls it. May be null.</param>
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
    /// Claims an open question about the habit. Only one article at a time is confirmed by a second copy, because its answer usually decides for all
    /// others. Otherwise a whole window of a post without checksums would be fetched twice.
    /// </summary>
    /// <returns>Null if the caller must find the answer and call <see cref="EndQuestion"/>; otherwise a task that ends with the answer.</returns>
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

    /// <summary>Ends the question that the caller claimed. Call it after <see cref="Learn"/>, so that waiting callers find the answer.</summary>
    internal void EndQuestion()
    {
        TaskCompletionSource? question;
        lock (_gate)
            (question, _question) = (_question, null);
        question?.SetResult();
    }
}
