namespace Sluice.Usenet.Streams.Maps;

/// <summary>The habit of one posted file, learned when it was probed and kept up by the articles that are proved while it is read.</summary>
/// <remarks>Thread-safe; shared by all readers of the file.</remarks>
/// <param name="known">The habit as it was known before.</param>
/// <param name="learned">Told of the habit whenever more of it is known: by the load that has read an article, so it must be quick. Null: not told.</param>
public sealed class FileHabit(ArticleHabit known = default, Action<ArticleHabit>? learned = null)
{
    // Guards both fields. Nothing is called under it.
    private readonly Lock _gate = new();
    private ArticleHabit _known = known;
    private TaskCompletionSource? _question;

    /// <summary>The habit as it is known now.</summary>
    public ArticleHabit Known
    {
        get
        {
            lock (_gate)
                return _known;
        }
    }

    /// <summary>An article has been proved.</summary>
    /// <param name="shown">What it has shown about the file.</param>
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
    /// An article hinges upon a part of the habit that is not known. One such article at a time is confirmed by a second copy, because that most often answers for all
    /// the others: a post that never carries a thing would be fetched twice for as long as its first window is.
    /// </summary>
    /// <returns>Null where the caller is to ask, and to call <see cref="Answered"/>; else the end of what another caller asks.</returns>
    internal Task? Ask()
    {
        lock (_gate)
        {
            if (_question is { } asked)
                return asked.Task;
            _question = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            return null;
        }
    }

    /// <summary>By the caller that was to ask: it has learned what it could.</summary>
    internal void Answered()
    {
        TaskCompletionSource? question;
        lock (_gate)
            (question, _question) = (_question, null);
        question?.SetResult();
    }
}
