using System.Collections.Concurrent;
using Sluice.Server.Library;

namespace Sluice.Server.WebDav.Tree;

/// <summary>
/// Deleted links, hidden for a while and then shown again (DAV-42). A move across file systems is a copy and a delete, so the client expects the
/// source to disappear. In memory only. Thread-safe.
/// </summary>
internal sealed class HiddenLinks(TimeProvider time)
{
    /// <summary>Maximum hidden names, far more than a client moves in half a minute. At the limit, the oldest half is shown again early.</summary>
    private const int MaxNames = 50_000;

    private static readonly TimeSpan Hiding = TimeSpan.FromSeconds(30);

    private readonly ConcurrentDictionary<(Release Release, string Path), long> _since = new();

    /// <summary>Hides a link or folder for half a minute.</summary>
    /// <param name="release">The release; one added again under the same name is another.</param>
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
