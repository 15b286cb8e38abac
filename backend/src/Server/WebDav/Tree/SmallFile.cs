using System.Security.Cryptography;

namespace Sluice.Server.WebDav.Tree;

/// <summary>An in-memory file: built-in text, links and desktop litter.</summary>
internal sealed class SmallFile(string name, byte[] content, DateTimeOffset since) : IStoreFile
{
    public string Name => name;

    public DateTimeOffset Created => since;

    public DateTimeOffset LastModified => since;

    public bool IsReadOnly { get; init; } = true;

    public bool IsHidden { get; init; }

    public IPropertyManager Properties => LiveProperties.OfFiles;

    public long Length => content.Length;

    public EntityTag ETag => new(Convert.ToHexStringLower(SHA256.HashData(content).AsSpan(0, 16)));

    public string ContentType { get; init; } = ContentTypes.Unknown;

    public string CacheControl { get; init; } = "private, no-transform";

    public ValueTask<Stream> OpenAsync(long offset, long length, CancellationToken cancellationToken) =>
        ValueTask.FromResult<Stream>(new MemoryStream(content, (int)offset, (int)length, writable: false));
}
