using Sluice.Usenet.Primitives;

namespace Sluice.Server.WebDav.Tree;

/// <summary>
/// Files such as <c>._*</c> and <c>.DS_Store</c> that desktops leave in queue folders (DAV-40b). A desktop writes such a file before each copied file, and
/// aborts the copy if it is refused. Kept in memory for an hour and never listed. Thread-safe.
/// </summary>
internal sealed class LitterFiles(TimeProvider time)
{
    /// <summary>Maximum bytes per file.</summary>
    public const int MaxLength = 64 * 1024;

    /// <summary>Maximum number of files. The oldest file is dropped first.</summary>
    private const int MaxFiles = 100;

    private static readonly TimeSpan Lifetime = TimeSpan.FromHours(1);

    private readonly Lock _gate = new();
    private readonly Dictionary<(string Folder, string Name), (SmallFile File, long At)> _files = [];

    /// <summary>Stores a file, replacing any file of the same name.</summary>
    public async Task<StoreAnswer> PutAsync(string folder, string name, StoreUpload upload, CancellationToken cancellationToken)
    {
        var content = new byte[MaxLength + 1];
        var length = await upload.Body.ReadAtLeastAsync(content, content.Length, throwOnEndOfStream: false, cancellationToken);
        if (length > MaxLength)
            return StoreAnswer.TooLarge;

        var file = new SmallFile(name, content[..length], time.WallTime()) { IsReadOnly = false };
        lock (_gate)
        {
            var existed = Fresh(folder, name) is not null;
            if (existed && !upload.MayReplace)
                return StoreAnswer.AlreadyExists;
            _files.Remove((folder, name));
            while (_files.Count >= MaxFiles)
                _files.Remove(_files.MinBy(entry => entry.Value.At).Key);
            _files[(folder, name)] = (file, time.GetTimestamp());
            return existed ? StoreAnswer.Done : StoreAnswer.Created;
        }
    }

    public SmallFile? Find(string folder, string name)
    {
        lock (_gate)
            return Fresh(folder, name);
    }

    /// <summary>Removes a file; false if it did not exist.</summary>
    public bool Remove(string folder, string name)
    {
        lock (_gate)
        {
            var existed = Fresh(folder, name) is not null;
            _files.Remove((folder, name));
            return existed;
        }
    }

    private SmallFile? Fresh(string folder, string name) =>
        _files.TryGetValue((folder, name), out var kept) && time.GetElapsedTime(kept.At) < Lifetime ? kept.File : null;
}
