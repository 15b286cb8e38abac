using System.Security.Cryptography;

namespace Sluice.Server.WebDav.Tree;

/// <summary>A small file that a desktop keeps beside the files of a folder for itself.</summary>
internal sealed class LitterFile(string name, byte[] content, DateTimeOffset since) : IStoreFile
{
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
    public long Length => content.Length;

    /// <inheritdoc />
    public EntityTag ETag { get; } = new(Convert.ToHexStringLower(SHA256.HashData(content).AsSpan(0, 16)));

    /// <inheritdoc />
    public string ContentType => ContentTypes.Unknown;

    /// <inheritdoc />
    public ValueTask<Stream> OpenAsync(long offset, long length, CancellationToken ct) =>
        ValueTask.FromResult<Stream>(new MemoryStream(content, (int)offset, (int)length, writable: false));
}
