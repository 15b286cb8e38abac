using System.Security.Cryptography;

namespace Sluice.Server.WebDav.Tree;

/// <summary>A small file that is part of the program.</summary>
/// <param name="name">Its name at the root.</param>
/// <param name="content">Its bytes.</param>
/// <param name="since">Its date.</param>
internal sealed class StaticFile(string name, byte[] content, DateTimeOffset since) : IStoreFile
{
    /// <inheritdoc />
    public string Name => name;

    /// <inheritdoc />
    public DateTimeOffset Created => since;

    /// <inheritdoc />
    public DateTimeOffset LastModified => since;

    /// <inheritdoc />
    public bool IsReadOnly => true;

    /// <inheritdoc />
    public IPropertyManager Properties => LiveProperties.OfFiles;

    /// <inheritdoc />
    public long Length => content.Length;

    /// <inheritdoc />
    public EntityTag ETag { get; } = new(Convert.ToHexStringLower(SHA256.HashData(content).AsSpan(0, 16)));

    /// <inheritdoc />
    public string ContentType => "text/plain; charset=utf-8";

    /// <inheritdoc />
    public string CacheControl { get; init; } = "private, no-transform";

    /// <inheritdoc />
    public ValueTask<Stream> OpenAsync(long offset, long length, CancellationToken ct) =>
        ValueTask.FromResult<Stream>(new MemoryStream(content, (int)offset, (int)length, writable: false));
}
