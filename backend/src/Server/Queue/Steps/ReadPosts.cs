namespace Sluice.Server.Queue.Steps;

/// <summary>The content of an NZB without its message-ids, which are on disk. Must not be logged, because it contains passwords.</summary>
/// <param name="Files">Files in NZB order.</param>
/// <param name="Category">A configured category, or null.</param>
internal sealed record ReadPost(
    string NzbHash,
    IReadOnlyList<PostedEntry> Files,
    IReadOnlyList<string> Passwords,
    string? Title,
    string? Category,
    PostMeasure Measure,
    StepFindings Findings)
{
    /// <summary>Omits the passwords.</summary>
    public override string ToString() => $"{nameof(ReadPost)} {NzbHash}";
}

/// <summary>Caches the NZBs of items that wait for a provider, so that a retry does not read them again. Beyond the limit, drops the oldest.</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class ReadPosts
{
    /// <summary>Maximum total number of files across all entries.</summary>
    public const int MaxFiles = 50_000;

    // Guards the fields below.
    private readonly Lock _gate = new();
    private readonly Dictionary<string, LinkedListNode<(string Id, ReadPost Post)>> _kept = [];
    private readonly LinkedList<(string Id, ReadPost Post)> _oldestFirst = new();
    private int _files;

    public void Keep(string id, ReadPost post)
    {
        lock (_gate)
        {
            Drop(id);
            _kept[id] = _oldestFirst.AddLast((id, post));
            _files += post.Files.Count;
            while (_files > MaxFiles && _oldestFirst.First is { } oldest)
                Drop(oldest.Value.Id);
        }
    }

    /// <summary>Removes and returns the NZB of an item, or null.</summary>
    public ReadPost? Take(string id)
    {
        lock (_gate)
        {
            var post = _kept.TryGetValue(id, out var node) ? node.Value.Post : null;
            Drop(id);
            return post;
        }
    }

    private void Drop(string id)
    {
        if (!_kept.Remove(id, out var node))
            return;
        _oldestFirst.Remove(node);
        _files -= node.Value.Post.Files.Count;
    }
}
