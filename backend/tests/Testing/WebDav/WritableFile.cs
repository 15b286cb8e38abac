using System.Security.Cryptography;
using Sluice.Server.WebDav;

namespace Sluice.Testing.WebDav;

/// <summary>A file of <see cref="WritableStore"/>, as seen by one request.</summary>
internal sealed class WritableFile(WritableStore store, string key, WritableNode node) : IStoreFile
{
    private readonly byte[] _content = node.Content ?? throw new ArgumentException("A folder has no bytes.", nameof(node));

    /// <inheritdoc/>
    public string Name => key[(key.LastIndexOf('/') + 1)..];

    /// <inheritdoc/>
    public DateTimeOffset Created => node.Modified;

    /// <inheritdoc/>
    public DateTimeOffset LastModified => node.Modified;

    /// <inheritdoc/>
    public bool IsReadOnly => false;

    /// <inheritdoc/>
    public IPropertyManager Properties => new StoredProperties(
        LiveProperties.OfFiles, node.Stored, (changes, _) => ValueTask.FromResult(store.ChangeProperties(key, changes)));

    /// <inheritdoc/>
    public long Length => _content.Length;

    /// <inheritdoc/>
    public EntityTag ETag => new(Convert.ToHexStringLower(SHA256.HashData(_content).AsSpan(0, 16)));

    /// <inheritdoc/>
    public string ContentType => ContentTypes.ForName(Name);

    /// <inheritdoc/>
    public ValueTask<Stream> OpenAsync(long offset, long length, CancellationToken cancellationToken) =>
        ValueTask.FromResult<Stream>(new MemoryStream(_content, (int)offset, (int)length, writable: false));
}
