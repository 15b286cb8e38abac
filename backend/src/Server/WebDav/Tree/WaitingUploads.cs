using System.Collections.Concurrent;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.WebDav.Tree;

/// <summary>
/// Names that clients created without content, as desktops do before they write a file (DAV-40a). Kept in memory for ten minutes, because an empty file is not
/// an NZB yet. Thread-safe.
/// </summary>
internal sealed class WaitingUploads(TimeProvider time)
{
    /// <summary>Maximum names. A desktop creates the names in a copied folder one by one, so only a few wait at a time.</summary>
    private const int MaxNames = 1000;

    private static readonly TimeSpan Lifetime = TimeSpan.FromMinutes(10);

    private readonly ConcurrentDictionary<(string Folder, string Name), WaitingFile> _names = new();

    /// <summary>Adds a name; false if too many names are waiting.</summary>
    public bool TryAdd(string folder, string name)
    {
        Forget();
        if (_names.Count >= MaxNames && !_names.ContainsKey((folder, name)))
            return false;
        _names[(folder, name)] = new WaitingFile(folder, name, time.WallTime()) { At = time.GetTimestamp() };
        return true;
    }

    /// <summary>Removes a name; false if it was not waiting.</summary>
    public bool Remove(string folder, string name) =>
        _names.TryRemove((folder, name), out var file) && IsFresh(file);

    public WaitingFile? Find(string folder, string name) =>
        _names.TryGetValue((folder, name), out var file) && IsFresh(file) ? file : null;

    /// <summary>The waiting names of a folder, by name.</summary>
    public IEnumerable<WaitingFile> In(string folder) =>
        _names.Values.Where(file => file.Folder == folder && IsFresh(file)).OrderBy(file => file.Name, StringComparer.Ordinal);

    public IEnumerable<string> Folders() => _names.Values.Where(IsFresh).Select(file => file.Folder).Distinct();

    private bool IsFresh(WaitingFile file) => time.GetElapsedTime(file.At) < Lifetime;

    private void Forget()
    {
        foreach (var file in _names.Values)
        {
            if (!IsFresh(file))
                _names.TryRemove(KeyValuePair.Create((file.Folder, file.Name), file));
        }
    }
}

/// <summary>A queue file whose content has not arrived yet.</summary>
internal sealed class WaitingFile(string folder, string name, DateTimeOffset since) : IStoreFile
{
    /// <summary>Monotonic timestamp of the file's creation, from which its expiry is calculated.</summary>
    public required long At { get; init; }

    public string Folder => folder;

    public string Name => name;

    public DateTimeOffset Created => since;

    public DateTimeOffset LastModified => since;

    public bool IsReadOnly => false;

    public IPropertyManager Properties => LiveProperties.OfFiles;

    public long Length => 0;

    public EntityTag ETag { get; } = new("waiting");

    public string ContentType => ContentTypes.ForName(name);

    public ValueTask<Stream> OpenAsync(long offset, long length, CancellationToken cancellationToken) =>
        throw new InvalidOperationException("An empty file is never opened.");
}
