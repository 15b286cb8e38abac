namespace Sluice.Server.WebDav;

/// <summary>A file. Everything but its bytes is known without opening it.</summary>
internal interface IStoreFile : IStoreItem
{
    /// <summary>Exact length in bytes.</summary>
    long Length { get; }

    /// <summary>Strong validator of the content.</summary>
    EntityTag ETag { get; }

    /// <summary>Media type, with parameters where it has any.</summary>
    string ContentType { get; }

    /// <summary>The value of Cache-Control.</summary>
    string CacheControl => "private, no-transform";

    /// <summary>The name under which clients are to save it, where its name in the tree is another one.</summary>
    string? SuggestedName => null;

    /// <summary>Whether browsers are to save it rather than show it.</summary>
    bool IsAttachment => false;

    /// <summary>The file as one request reads it: the same one, unless the file wants to know who reads it.</summary>
    IStoreFile For(HttpContext http) => this;

    /// <summary>
    /// Opens a part of the file. The stream gives exactly <paramref name="length"/> bytes and belongs to the caller, who reads it
    /// forward once. Opening and reading throw <see cref="ContentUnavailableException"/> where the bytes cannot be had; a stream
    /// that ends early is read as that.
    /// </summary>
    /// <param name="offset">First byte, 0-based.</param>
    /// <param name="length">Number of bytes, greater than 0. Nothing behind them is fetched.</param>
    /// <param name="cancellationToken">Ends the wait for the opening.</param>
    ValueTask<Stream> OpenAsync(long offset, long length, CancellationToken cancellationToken);
}
