namespace Sluice.Server.WebDav.Tree;

/// <summary>A file as a link asks for it: the same bytes and validators, with another type and name (DAV-84).</summary>
/// <param name="file">The file.</param>
/// <param name="extension">The extension that decides type and name, without a dot; null to leave both.</param>
/// <param name="isDownload">Whether it is to be saved.</param>
internal sealed class ViewedFile(IStoreFile file, string? extension, bool isDownload) : IStoreFile
{
    private const int LongestExtension = 10;

    /// <inheritdoc/>
    public string Name => file.Name;

    /// <inheritdoc/>
    public DateTimeOffset Created => file.Created;

    /// <inheritdoc/>
    public DateTimeOffset LastModified => file.LastModified;

    /// <inheritdoc/>
    public bool IsReadOnly => file.IsReadOnly;

    /// <inheritdoc/>
    public IPropertyManager Properties => file.Properties;

    /// <inheritdoc/>
    public long Length => file.Length;

    /// <inheritdoc/>
    public EntityTag ETag => file.ETag;

    /// <inheritdoc/>
    public string CacheControl => file.CacheControl;

    /// <inheritdoc/>
    public string ContentType => extension is null ? file.ContentType : ContentTypes.ForName("file." + extension);

    /// <inheritdoc/>
    public bool IsAttachment => isDownload;

    /// <inheritdoc/>
    public string? SuggestedName
    {
        get
        {
            var name = file.SuggestedName ?? file.Name;
            if (extension is null || name.EndsWith("." + extension, StringComparison.OrdinalIgnoreCase))
                return name;
            // An unknown extension is part of a title.
            var stem = ContentTypes.ForName(name) == ContentTypes.Unknown ? name : Path.GetFileNameWithoutExtension(name);
            return $"{stem}.{extension}";
        }
    }

    /// <summary>The extension of a link, where it is one; null for any other text.</summary>
    public static string? ReadExtension(string? text)
    {
        var extension = text?.TrimStart('.') ?? "";
        return extension.Length is > 0 and <= LongestExtension && extension.All(char.IsAsciiLetterOrDigit) ? extension : null;
    }

    /// <inheritdoc/>
    public IStoreFile For(HttpContext http) => new ViewedFile(file.For(http), extension, isDownload);

    /// <inheritdoc/>
    public ValueTask<Stream> OpenAsync(long offset, long length, CancellationToken cancellationToken) => file.OpenAsync(offset, length, cancellationToken);
}
