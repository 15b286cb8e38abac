using System.Security.Cryptography;

namespace Sluice.Server.WebDav.Tree;

/// <summary>A file whose bytes are in memory: texts of the program, links, and what desktops leave behind.</summary>
/// <param name="name">Its name.</param>
/// <param name="content">Its bytes.</param>
/// <param name="since">Its date.</param>
internal sealed class SmallFile(string name, byte[] content, DateTimeOffset since) : IStoreFile
{
    /// <inheritdoc/>
    public string Name => name;

    /// <inheritdoc/>
    public DateTimeOffset Created => since;

    /// <inheritdoc/>
    public DateTimeOffset LastModified => since;

    /// <inheritdoc/>
    public bool IsReadOnly { get; init; } = true;

    /// <inheritdoc/>
    public bool IsHidden { get; init; }

    /// <inheritdoc/>
    public IPropertyManager Properties => LiveProperties.OfFiles;

    /// <inheritdoc/>
    public long Length => content.Length;

    /// <inheritdoc/>
    public EntityTag ETag => new(Convert.ToHexStringLower(SHA256.HashData(content).AsSpan(0, 16)));

    /// <inheritdoc/>
    public string ContentType { get; init; } = ContentTypes.Unknown;

    /// <inheritdoc/>
    public string CacheControl { get; init; } = "private, no-transform";

    /// <inheritdoc/>
    public ValueTask<Stream> OpenAsync(long offset, long length, CancellationToken cancellationToken) =>
        ValueTask.FromResult<Stream>(new MemoryStream(content, (int)offset, (int)length, writable: false));
}
