namespace Sluice.Usenet.Archives;

/// <summary>Random access to the bytes of a volume, of joined pieces, or of an entry in another archive.</summary>
/// <remarks>Thread-safe. All returned bytes are verified, except the first bytes of a <see cref="PostedInput"/>.</remarks>
public interface IArchiveInput
{
    /// <summary>Length in bytes; never changes.</summary>
    long Length { get; }

    /// <summary>Fills the whole buffer from the 0-based <paramref name="offset"/>. The range must lie within <see cref="Length"/>.</summary>
    /// <exception cref="Streams.ArticleGoneException">A needed article is missing or damaged at every provider.</exception>
    /// <exception cref="Nntp.NntpException">No provider gave a final answer.</exception>
    ValueTask ReadAsync(long offset, Memory<byte> buffer, CancellationToken cancellationToken);
}
