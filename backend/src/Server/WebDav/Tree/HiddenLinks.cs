using System.Collections.Concurrent;
using Sluice.Server.Library;

namespace Sluice.Server.WebDav.Tree;

/// <summary>
/// Hides deleted links for a while (DAV-42), because a move across file systems deletes the source and expects it to be gone. Kept in memory. Thread-safe.
/// </summary>
internal sealed class HiddenLinks(TimeProvider time)
{
    /// <summary>Maximum hidden names, far more than a client moves in half a minute. At the limit, the oldest half reappears early.</summary>
    private const int MaxNames = 50_000;

    private static readonly TimeSpan Hiding = TimeSpan.FromSeconds(30);

    private readonly ConcurrentDictionary<(Release Release, string Path), long> _since = new();

    /// <summary>Hides a link or folder for half a minute.</summary>
    /// <param name="release">The release. A release added later under the same name counts as a different one.</param>
    /// <param name="path">The path inside the release, separated by <c>/</c>.</param>
    public void Hide(Release release, string path)
    {
        if (_since.Count >= MaxNames)
            Forget();
        _since[(release, path)] = time.GetTimestamp();
    }

    /// <summary>Whether a path or a folder above it is hidden.</summary>
    public bool Contains(Release release, string path)
    {
        if (_since.IsEmpty)
            return false;
        for (var end = path.Length; end > 0; end = path.LastIndexOf('/', end - 1))
        {
            if (_since.TryGetValue((release, path[..end]), out var since) && time.GetElapsedTime(since) < Hiding)
                return true;
        }

        return false;
    }

    private void Forget()
    {
        foreach (var name in _since.OrderBy(name => name.Value).Take(MaxNames / 2).ToList())
            _since.TryRemove(name);
    }
}
