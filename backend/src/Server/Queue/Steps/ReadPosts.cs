namespace Sluice.Server.Queue.Steps;

/// <summary>What reading an NZB has told, without its message-ids, which are on disk.</summary>
/// <remarks>Holds passwords; never written to a log.</remarks>
/// <param name="NzbHash">Content id of the NZB.</param>
/// <param name="Files">Every file, in the order of the NZB.</param>
/// <param name="Passwords">Passwords that the NZB names.</param>
/// <param name="Title">Title of the release, or null.</param>
/// <param name="Category">The configured category that the NZB names, or null.</param>
/// <param name="Measure">Size and age of the post.</param>
/// <param name="Findings">What the step tells of it.</param>
internal sealed record ReadPost(
    string NzbHash,
    IReadOnlyList<PostedEntry> Files,
    IReadOnlyList<string> Passwords,
    string? Title,
    string? Category,
    PostMeasure Measure,
    StepFindings Findings)
{
    /// <summary>The content id alone.</summary>
    public override string ToString() => $"{nameof(ReadPost)} {NzbHash}";
}

/// <summary>
/// Read NZBs of items that wait for a provider, so that the next try does not read them again. In memory, bounded by the number of
/// files that one NZB may list: beyond that the oldest entry is dropped, and its item reads its NZB again.
/// </summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class ReadPosts
{
    /// <summary>Files of all that is kept.</summary>
    public const int MaxFiles = 50_000;

    // Guards the fields below.
    private readonly Lock _gate = new();
    private readonly Dictionary<string, LinkedListNode<(string Id, ReadPost Post)>> _kept = [];
    private readonly LinkedList<(string Id, ReadPost Post)> _oldestFirst = new();
    private int _files;

    /// <summary>Keeps the read NZB of an item.</summary>
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

    /// <summary>Takes the read NZB of an item, or null.</summary>
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
