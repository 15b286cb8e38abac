namespace Sluice.Server.WebDav;

/// <summary>A file. Its metadata is available without opening it.</summary>
internal interface IStoreFile : IStoreItem
{
    /// <summary>Exact length in bytes.</summary>
    long Length { get; }

    /// <summary>Strong validator of the content.</summary>
    EntityTag ETag { get; }

    string ContentType { get; }

    string CacheControl => "private, no-transform";

    /// <summary>The file name for downloads if it differs from <c>Name</c>; otherwise null.</summary>
    string? SuggestedName => null;

    /// <summary>Whether browsers should save the file instead of showing it.</summary>
    bool IsAttachment => false;

    /// <summary>Returns the file as seen by one request, so that reads can be attributed to a client. By default, returns the same object.</summary>
    IStoreFile For(HttpContext http) => this;

    /// <summary>
    /// Opens a part of the file for one forward read. The caller owns the stream, which has exactly <paramref name="length"/> bytes. If content is unavailable,
    /// opening and reading throw <see cref="ContentUnavailableException"/> or a failure that <see cref="Explain"/> maps to it. Callers treat a premature end
    /// the same way.
    /// </summary>
    /// <param name="offset">First byte, 0-based.</param>
    /// <param name="length">Number of bytes, greater than 0. Nothing beyond them is fetched.</param>
    ValueTask<Stream> OpenAsync(long offset, long length, CancellationToken cancellationToken);

    /// <summary>Maps a failure of opening or reading to an exception for the client; null if unknown.</summary>
    ContentUnavailableException? Explain(Exception failure) => null;
}
