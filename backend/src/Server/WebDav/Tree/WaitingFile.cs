namespace Sluice.Server.WebDav.Tree;

/// <summary>A name in the queue whose bytes have not come yet.</summary>
internal sealed class WaitingFile(string folder, string name, DateTimeOffset since) : IStoreFile
{
    /// <summary>Timestamp of its creation, by which it is forgotten.</summary>
    public required long At { get; init; }

    /// <summary>The category folder that it stands in.</summary>
    public string Folder => folder;

    /// <inheritdoc />
    public string Name => name;

    /// <inheritdoc />
    public DateTimeOffset Created => since;

    /// <inheritdoc />
    public DateTimeOffset LastModified => since;

    /// <inheritdoc />
    public bool IsReadOnly => false;

    /// <inheritdoc />
    public IPropertyManager Properties => LiveProperties.OfFiles;

    /// <inheritdoc />
    public long Length => 0;

    /// <inheritdoc />
    public EntityTag ETag { get; } = new("waiting");

    /// <inheritdoc />
    public string ContentType => ContentTypes.ForName(name);

    /// <inheritdoc />
    public ValueTask<Stream> OpenAsync(long offset, long length, CancellationToken ct) =>
        throw new InvalidOperationException("An empty file is never opened.");
}
