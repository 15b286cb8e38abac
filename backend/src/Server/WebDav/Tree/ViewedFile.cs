namespace Sluice.Server.WebDav.Tree;

/// <summary>A file behind a signed link (DAV-84). <paramref name="extension"/> has no dot and determines type and name; null keeps both.</summary>
internal sealed class ViewedFile(IStoreFile file, string? extension, bool isDownload) : IStoreFile
{
    private const int LongestExtension = 10;

    public string Name => file.Name;

    public DateTimeOffset Created => file.Created;

    public DateTimeOffset LastModified => file.LastModified;

    public bool IsReadOnly => file.IsReadOnly;

    public IPropertyManager Properties => file.Properties;

    public long Length => file.Length;

    public EntityTag ETag => file.ETag;

    public string CacheControl => file.CacheControl;

    public string ContentType => extension is null ? file.ContentType : ContentTypes.ForName("file." + extension);

    public bool IsAttachment => isDownload;

    public string? SuggestedName
    {
        get
        {
            var name = file.SuggestedName ?? file.Name;
            if (extension is null || name.EndsWith("." + extension, StringComparison.OrdinalIgnoreCase))
                return name;
            // Keep an unknown extension, because it is probably part of the title.
            var stem = ContentTypes.ForName(name) == ContentTypes.Unknown ? name : Path.GetFileNameWithoutExtension(name);
            return $"{stem}.{extension}";
        }
    }

    /// <summary>Returns the extension without its dot; null if the string is not an extension.</summary>
    public static string? ReadExtension(string? text)
    {
        var extension = text?.TrimStart('.') ?? "";
        return extension.Length is > 0 and <= LongestExtension && extension.All(char.IsAsciiLetterOrDigit) ? extension : null;
    }

    public IStoreFile For(HttpContext http) => new ViewedFile(file.For(http), extension, isDownload);

    public ValueTask<Stream> OpenAsync(long offset, long length, CancellationToken cancellationToken) => file.OpenAsync(offset, length, cancellationToken);

    public ContentUnavailableException? Explain(Exception failure) => file.Explain(failure);
}
