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
    /// <param name="heads">Where the beginning of the posted file can be had without a fetch of its own; null: nowhere.</param>
    /// <param name="headArrived">Called for each head that was looked into, on any thread; null if they are not counted.</param>
    /// <param name="cancellationToken">Gives up; another reader may ask again.</param>
    /// <exception cref="RefutedExtentException">It is not; the file has to be opened anew, by the map that holds.</exception>
    /// <exception cref="ArticleGoneException">The article that would show it is gone or damaged at every provider.</exception>
    /// <exception cref="Nntp.NntpException">No provider could be asked to the end; nothing is known.</exception>
    ValueTask ProveAsync(IPostedHeads? heads, Action? headArrived, CancellationToken cancellationToken);

    /// <summary>
    /// Looks into the posted file of the slice alone, for a stream that comes to the slice later and has proved all slices before it by then.
    /// Where the stream begins behind slices that are not proved, <see cref="IsProved"/> stays false.
    /// </summary>
    /// <inheritdoc cref="ProveAsync"/>
    ValueTask ProveOwnAsync(IPostedHeads heads, CancellationToken cancellationToken);
}

/// <summary>The beginnings of posted files whose first segments a stream reads anyway.</summary>
public interface IPostedHeads
{
    /// <summary>Reads a beginning out of the segment that the stream holds or waits for.</summary>
    /// <param name="file">The posted file.</param>
    /// <param name="bytes">How many bytes at most.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <returns>Proved bytes; null where the segment cannot be had.</returns>
    Task<PostedHead?> ReadHeadAsync(PostedFile file, int bytes, CancellationToken cancellationToken);
}

/// <summary>The beginning of a posted file.</summary>
/// <param name="Bytes">Its first bytes, proved; a copy.</param>
/// <param name="ClaimedLength">Length of the posted file in bytes as its first article claims it; null where that is not known any more.</param>
public readonly record struct PostedHead(ReadOnlyMemory<byte> Bytes, long? ClaimedLength);
