using Sluice.Server.Queue.Steps;
using Sluice.Usenet.Nzb;

namespace Sluice.Server.FamilyImport;

/// <summary>
/// Matches posted files with NZB entries that list exactly the same articles, while the NZB is being read. The NZB's segment numbers determine the order,
/// because several articles may claim the same number. Not thread-safe. Used for one pass over one NZB.
/// </summary>
internal sealed class PlacedPosts
{
    private readonly Dictionary<MessageId, List<OldPost>> _byFirst = [];
    private readonly Dictionary<OldPost, PostedEntry> _found = [];
    private readonly int _wanted;

    public PlacedPosts(IReadOnlyList<OldPost> posts)
    {
        _wanted = posts.Count;
        foreach (var post in posts)
        {
            if (!MessageId.TryParse(post.Ids[0], out var first))
                continue;
            if (!_byFirst.TryGetValue(first, out var same))
                _byFirst[first] = same = [];
            same.Add(post);
        }
    }

    /// <summary>Whether every posted file was found.</summary>
    public bool AreComplete => _found.Count == _wanted;

    public PostedEntry this[OldPost post] => _found[post];

    /// <summary>Reads the next NZB entry and writes its message-ids to the release's list.</summary>
    public async Task<PostedEntry> AddAsync(int ordinal, NzbFile file, MessageIdListWriter list, CancellationToken cancellationToken)
    {
        var candidates = Candidates(file);
        var entry = await PostedEntry.ReadAsync(ordinal, file, list, cancellationToken);
        foreach (var post in candidates)
            _found.TryAdd(post, entry);
        return entry;
    }

    private List<OldPost> Candidates(NzbFile file)
    {
        var hits = new List<OldPost>();
        foreach (var segment in file.Segments)
        {
            if (_byFirst.TryGetValue(segment.Ids.Primary, out var posts))
                hits.AddRange(posts.Where(post => !_found.ContainsKey(post)));
        }

        return hits.Count == 0 ? hits : [.. hits.Where(post => IsSame(post, file))];
    }

    private static bool IsSame(OldPost post, NzbFile file)
    {
        var ids = new HashSet<MessageId>();
        foreach (var id in post.Ids)
        {
            if (MessageId.TryParse(id, out var parsed))
                ids.Add(parsed);
        }

        var known = new HashSet<MessageId>();
        foreach (var segment in file.Segments)
        {
            if (segment.IsHole)
                continue;
            if (!ids.Contains(segment.Ids.Primary))
                return false;
            known.Add(segment.Ids.Primary);
            known.UnionWith(segment.Ids.Fallbacks.Where(ids.Contains));
        }

        return known.Count == ids.Count;
    }
}
