using System.Security.Cryptography;
using System.Text;

namespace Sluice.Server.WebDav.Tree;

/// <summary>
/// A <c>.rclonelink</c>: the text that rclone shows as a symbolic link (DAV-10). Built from an id and a setting, never from
/// content (S22).
/// </summary>
/// <param name="name">Its name.</param>
/// <param name="target">Where it leads.</param>
/// <param name="published">When its release became visible.</param>
internal sealed class LinkFile(string name, string target, DateTimeOffset published) : IStoreFile
{
    /// <summary>What is behind the name of every link.</summary>
    public const string Extension = ".rclonelink";

    private readonly byte[] _content = Encoding.UTF8.GetBytes(target);

    /// <inheritdoc />
    public string Name => name;

    /// <inheritdoc />
    public DateTimeOffset Created => published;

    /// <inheritdoc />
    public DateTimeOffset LastModified => published;

    /// <inheritdoc />
    public bool IsReadOnly => true;

    /// <inheritdoc />
    public required bool IsHidden { get; init; }

    /// <inheritdoc />
    public IPropertyManager Properties => LiveProperties.OfFiles;

    /// <inheritdoc />
    public long Length => _content.Length;

    /// <inheritdoc />
    public EntityTag ETag => new(Convert.ToHexStringLower(SHA256.HashData(_content).AsSpan(0, 16)));

    /// <inheritdoc />
    public string ContentType => ContentTypes.ForName(name);

    /// <inheritdoc />
    public ValueTask<Stream> OpenAsync(long offset, long length, CancellationToken ct) =>
        ValueTask.FromResult<Stream>(new MemoryStream(_content, (int)offset, (int)length, writable: false));
}
