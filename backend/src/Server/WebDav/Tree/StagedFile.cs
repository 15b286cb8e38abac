using Sluice.Server.Queue.Intake;

namespace Sluice.Server.WebDav.Tree;

/// <summary>A staged upload, byte for byte as received, until it is renamed to an NZB.</summary>
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
