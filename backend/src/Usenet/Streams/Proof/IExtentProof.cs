namespace Sluice.Usenet.Streams.Proof;

/// <summary>Guards a slice at a predicted offset (IMP-52): no byte is served before the headers of its posted file confirm the prediction.</summary>
/// <remarks>Thread-safe; shared by all readers of the file. A successful proof is remembered.</remarks>
public interface IExtentProof
{
    /// <summary>Whether the prediction is already confirmed, so that no article is needed.</summary>
    bool IsProved { get; }

    /// <summary>Checks the prediction. Runs in parallel with the first fetch of the slice, so that it adds no round trip.</summary>
    /// <param name="heads">Supplies the beginning of the posted file without an extra fetch; null for none.</param>
    /// <param name="headArrived">Called for each head that was checked, on any thread; may be null.</param>
    /// <param name="cancellationToken">Ends the check; another reader may ask again.</param>
    /// <exception cref="RefutedExtentException">The prediction is wrong; the file has to be reopened with the corrected map.</exception>
    /// <exception cref="ArticleGoneException">The article that could confirm the prediction is gone or damaged at every provider.</exception>
    /// <exception cref="Nntp.NntpException">No provider gave a final answer, so nothing is known.</exception>
    ValueTask ProveAsync(IPostedHeads? heads, Action? headArrived, CancellationToken cancellationToken);

    /// <summary>Checks only the posted file of this slice, for a stream that has verified all earlier slices.</summary>
    /// <remarks>If the stream begins after unverified slices, <see cref="IsProved"/> stays false.</remarks>
    /// <inheritdoc cref="ProveAsync"/>
    ValueTask ProveOwnAsync(IPostedHeads heads, CancellationToken cancellationToken);
}

/// <summary>The beginnings of posted files whose first segments a stream reads anyway.</summary>
public interface IPostedHeads
{
    /// <summary>Offset after the last byte held or in transit.</summary>
    long AheadEnd { get; }

    /// <summary>Reads at most this many bytes of the beginning of a posted file, from the segment that the stream holds or waits for.</summary>
    /// <returns>Verified bytes; null if the segment is not available.</returns>
    Task<PostedHead?> ReadHeadAsync(PostedFile file, int bytes, CancellationToken cancellationToken);
}

/// <summary>A verified copy of a posted file's first bytes.</summary>
/// <param name="ClaimedLength">Length of the posted file in bytes, as its first article claims; null if no longer known.</param>
public readonly record struct PostedHead(ReadOnlyMemory<byte> Bytes, long? ClaimedLength);
