namespace Sluice.Usenet.Archives;

/// <summary>The bytes of one volume, of pieces that were joined, or of an entry of another archive, readable at any place.</summary>
/// <remarks>Thread-safe. Every byte that it gives is proved.</remarks>
public interface IArchiveInput
{
    /// <summary>Length in bytes; it never changes.</summary>
    long Length { get; }

    /// <summary>Fills a buffer.</summary>
    /// <param name="offset">0-based place of the first byte.</param>
    /// <param name="buffer">What is filled, whole; it lies inside of <see cref="Length"/>.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="Streams.ArticleGoneException">An article that is needed is gone or damaged at every provider.</exception>
    /// <exception cref="Nntp.NntpException">No provider could be asked to the end; nothing is known.</exception>
    ValueTask ReadAsync(long offset, Memory<byte> buffer, CancellationToken cancellationToken);
}
