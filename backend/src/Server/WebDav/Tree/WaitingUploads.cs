using System.Collections.Concurrent;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.WebDav.Tree;

/// <summary>
/// Names that clients have created without bytes, as desktops do before they write (DAV-40a). Kept in memory alone: each is
/// forgotten after ten minutes, and none of them is an accepted NZB. Thread-safe.
/// </summary>
internal sealed class WaitingUploads(TimeProvider time)
{
    /// <summary>Names kept at a time: a desktop that copies a folder creates one after the other.</summary>
    private const int MaxNames = 1000;

    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(10);

    private readonly ConcurrentDictionary<(string Folder, string Name), WaitingFile> _names = new();

    /// <summary>Notes a name. False when too many wait already.</summary>
    public bool TryAdd(string folder, string name)
    {
        Forget();
        if (_names.Count >= MaxNames && !_names.ContainsKey((folder, name)))
            return false;
        _names[(folder, name)] = new WaitingFile(folder, name, time.WallTime()) { At = time.GetTimestamp() };
        return true;
    }

    /// <summary>Drops a name. False when it did not wait.</summary>
    public bool Remove(string folder, string name) =>
        _names.TryRemove((folder, name), out var file) && IsFresh(file);

    /// <summary>The file of a name, or null.</summary>
    public WaitingFile? Find(string folder, string name) =>
        _names.TryGetValue((folder, name), out var file) && IsFresh(file) ? file : null;

    /// <summary>The waiting names of a folder, in order.</summary>
    public IEnumerable<WaitingFile> In(string folder) =>
        _names.Values.Where(file => file.Folder == folder && IsFresh(file)).OrderBy(file => file.Name, StringComparer.Ordinal);

    /// <summary>The folders with waiting names.</summary>
    public IEnumerable<string> Folders() => _names.Values.Where(IsFresh).Select(file => file.Folder).Distinct();

    private bool IsFresh(WaitingFile file) => time.GetElapsedTime(file.At) < Patience;

    private void Forget()
    {
        foreach (var file in _names.Values)
        {
            if (!IsFresh(file))
                _names.TryRemove(KeyValuePair.Create((file.Folder, file.Name), file));
        }
    }
}

/// <summary>A name in the queue whose bytes have not come yet.</summary>
internal sealed class WaitingFile(string folder, string name, DateTimeOffset since) : IStoreFile
{
    /// <summary>Timestamp of its creation, by which it is forgotten.</summary>
    public required long At { get; init; }

    /// <summary>The category folder that it stands in.</summary>
    public string Folder => folder;

    /// <inheritdoc/>
    public string Name => name;

    /// <inheritdoc/>
    public DateTimeOffset Created => since;

    /// <inheritdoc/>
    public DateTimeOffset LastModified => since;

    /// <inheritdoc/>
    public bool IsReadOnly => false;

    /// <inheritdoc/>
    public IPropertyManager Properties => LiveProperties.OfFiles;

    /// <inheritdoc/>
    public long Length => 0;

    /// <inheritdoc/>
    public EntityTag ETag { get; } = new("waiting");

    /// <inheritdoc/>
    public string ContentType => ContentTypes.ForName(name);

    /// <inheritdoc/>
    public ValueTask<Stream> OpenAsync(long offset, long length, CancellationToken cancellationToken) =>
        throw new InvalidOperationException("An empty file is never opened.");
}
