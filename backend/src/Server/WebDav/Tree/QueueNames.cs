using Sluice.Server.Library;
using Sluice.Server.Queue;
using Sluice.Server.Queue.Intake;

namespace Sluice.Server.WebDav.Tree;

/// <summary>
/// Looks up names below <c>/nzbs</c>: queue files, announced names, staged uploads and desktop litter. The form of a name determines its kind. A queue file
/// takes precedence over an announced name.
/// </summary>
internal sealed class QueueNames(
    QueueFileStore queue,
    CategoryRules categories,
    StoredNzbReader nzbs,
    QueueProperties properties,
    WaitingUploads waiting,
    StagedUploads staged,
    LitterFiles litter)
{
    /// <summary>The folder for NZBs without a category.</summary>
    public string ManualFolder => categories.FolderOf(CategoryRules.None);

    public bool AcceptsFiles(string folder) => folder == ManualFolder || categories.Configured.Contains(folder);

    /// <summary>Returns the stored category name for a folder.</summary>
    public string CategoryOf(string folder) => folder == ManualFolder ? CategoryRules.None : folder;

    /// <summary>Returns the desktop litter with this name, or null. Needs no query (DAV-14).</summary>
    public IStoreFile? FindLitter(string folder, string name) => litter.Find(folder, name);

    /// <summary>Returns the file with this name, or null. Excludes litter.</summary>
    public async Task<IStoreFile?> FindAsync(string folder, string name, CancellationToken cancellationToken)
    {
        if (TreeNames.IsStaged(name))
            return staged.Find(folder, name) is { } upload ? new StagedFile(upload, staged) : null;
        if (TreeNames.IsUpload(name) && await StoreGuard.RunAsync(() => queue.FindAsync(folder, name, cancellationToken)) is { } file)
            return Show(file);
        return waiting.Find(folder, name);
    }

    public async IAsyncEnumerable<IStoreItem> ListAsync(
        string folder, [System.Runtime.CompilerServices.EnumeratorCancellation] CancellationToken cancellationToken)
    {
        IEnumerable<IStoreFile> uploads = staged.List().Where(upload => upload.Folder == folder).Select(upload => new StagedFile(upload, staged));
        Queue<IStoreFile> others = new(uploads.Concat(waiting.In(folder)).OrderBy(file => file.Name, StringComparer.Ordinal));
        await foreach (var file in StoreGuard.ReadAsync(queue.ListAsync(folder, cancellationToken), cancellationToken))
        {
            while (others.TryPeek(out var next) && string.CompareOrdinal(next.Name, file.Name) < 0)
                yield return others.Dequeue();
            if (others.TryPeek(out var same) && same.Name == file.Name)
                others.Dequeue();
            yield return Show(file);
        }

        while (others.TryDequeue(out var rest))
            yield return rest;
    }

    /// <summary>Returns the folders by name, both configured and in use.</summary>
    public async Task<IReadOnlyList<string>> ListFoldersAsync(CancellationToken cancellationToken)
    {
        var used = await StoreGuard.RunAsync(() => queue.ListFoldersAsync(cancellationToken));
        var names = used.Union(categories.Configured).Union(waiting.Folders()).Union(staged.List().Select(upload => upload.Folder));
        return [.. names.Order(StringComparer.Ordinal)];
    }

    private QueuedFile Show(QueueFile file) => new(file, nzbs, properties);
}

/// <summary>A staged upload that waits to be renamed to an NZB. Its bytes are exactly those received.</summary>
internal sealed class StagedFile(StagedUpload upload, StagedUploads uploads) : IStoreFile
{
    public string Name => upload.Name;

    public DateTimeOffset Created => upload.Since;

    public DateTimeOffset LastModified => upload.Since;

    public bool IsReadOnly => false;

    public IPropertyManager Properties => LiveProperties.OfFiles;

    public long Length => upload.Length;

    public EntityTag ETag { get; } = new(upload.Id);

    public string ContentType => ContentTypes.Unknown;

    public ValueTask<Stream> OpenAsync(long offset, long length, CancellationToken cancellationToken) =>
        uploads.Open(upload, offset) is { } bytes
            ? ValueTask.FromResult(bytes)
            : throw new ContentUnavailableException(ContentFault.Gone, "The upload is no longer there.");
}
