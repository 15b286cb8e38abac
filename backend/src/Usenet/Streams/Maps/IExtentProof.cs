namespace Sluice.Usenet.Streams.Maps;

/// <summary>
/// Stands before a slice whose place was predicted and not read (IMP-52): no byte of it leaves before the headers of its posted file have
/// shown that the prediction is true.
/// </summary>
/// <remarks>Thread-safe; shared by all readers of the file. What was proved once is remembered.</remarks>
public interface IExtentProof
{
    /// <summary>Whether the prediction is known to be true, so that nothing has to be asked.</summary>
    bool IsProved { get; }

    /// <summary>Finds out whether the prediction is true. Called together with the first fetch of the slice, so that it takes no round trip more.</summary>
    /// <param name="cancellationToken">Gives up; another reader may ask again.</param>
    /// <exception cref="RefutedExtentException">It is not; the file has to be opened anew, by the map that holds.</exception>
    /// <exception cref="ArticleGoneException">The article that would show it is gone or damaged at every provider.</exception>
    /// <exception cref="Nntp.NntpException">No provider could be asked to the end; nothing is known.</exception>
    ValueTask ProveAsync(CancellationToken cancellationToken);
}
