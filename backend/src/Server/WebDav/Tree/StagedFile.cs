using Sluice.Server.Queue.Intake;

namespace Sluice.Server.WebDav.Tree;

/// <summary>A file in the queue that is to get the name of an NZB, byte for byte as it came.</summary>
internal sealed class StagedFile(StagedUpload upload, StagedUploads uploads) : IStoreFile
{
    /// <inheritdoc/>
    public string Name => upload.Name;

    /// <inheritdoc/>
    public DateTimeOffset Created => upload.Since;

    /// <inheritdoc/>
    public DateTimeOffset LastModified => upload.Since;

    /// <inheritdoc/>
    public bool IsReadOnly => false;

    /// <inheritdoc/>
    public IPropertyManager Properties => LiveProperties.OfFiles;

    /// <inheritdoc/>
    public long Length => upload.Length;

    /// <inheritdoc/>
    public EntityTag ETag { get; } = new(upload.Id);

    /// <inheritdoc/>
    public string ContentType => ContentTypes.Unknown;

    /// <inheritdoc/>
    public ValueTask<Stream> OpenAsync(long offset, long length, CancellationToken cancellationToken) =>
        uploads.Open(upload, offset) is { } bytes
            ? ValueTask.FromResult(bytes)
            : throw new ContentUnavailableException(ContentFault.Gone, "The upload is no longer there.");
}
