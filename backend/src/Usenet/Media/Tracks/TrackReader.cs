namespace Sluice.Usenet.Media.Tracks;

/// <summary>Reads a stretch of a file.</summary>
/// <param name="offset">Its first byte, 0-based; within the file.</param>
/// <param name="length">Its bytes, all within the file.</param>
/// <param name="cancellationToken">Gives up.</param>
/// <returns>The bytes, fewer only where the file turns out to be shorter. They stay as they are until the next call.</returns>
public delegate ValueTask<ReadOnlyMemory<byte>> RangeReader(long offset, int length, CancellationToken cancellationToken);

/// <summary>A header that is read piece by piece. Pure: it says which bytes it needs next, and is given them.</summary>
internal interface IHeaderWalk
{
    /// <summary>First byte of what it needs next.</summary>
    long Offset { get; }

    /// <summary>Bytes that it needs next.</summary>
    int Length { get; }

    /// <summary>Takes them.</summary>
    /// <param name="bytes">As many as it needs; fewer only where the file ends.</param>
    /// <returns>Whether it needs more.</returns>
    bool Take(ReadOnlySpan<byte> bytes);

    /// <summary>What it has found; at any time.</summary>
    MediaTracks Result { get; }
}

/// <summary>
/// Finds out which tracks a file has from its header, wherever that is, before anything plays it. Reads at most <see cref="MaxRead"/> in all;
/// what it throws comes from the range reader.
/// </summary>
public static class TrackReader
{
    /// <summary>Bytes that are read of one file at most.</summary>
    public const int MaxRead = 4 << 20;

    // Most headers begin and end in the first piece; the others need a few places of the file.
    private const int FirstPiece = 64 << 10;
    private const int Piece = 32 << 10;

    // Elements that any header passes; a walk that goes round in a circle ends here.
    private const int MaxSteps = 50_000;

    /// <summary>Reads the tracks of a file.</summary>
    /// <param name="read">Reads its ranges.</param>
    /// <param name="length">Its length.</param>
    /// <param name="cancellationToken">Gives up.</param>
    public static async ValueTask<MediaTracks> ReadAsync(RangeReader read, long length, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(read);
        var left = MaxRead;
        var (start, window) = (0L, ReadOnlyMemory<byte>.Empty);
        if (length > 0)
            window = await read(0, (int)Math.Min(length, FirstPiece), cancellationToken);
        left -= window.Length;
        var kind = MediaSignature.Recognise(window.Span[..Math.Min(window.Length, MediaSignature.SufficientLength)]);
        if (WalkOf(kind, length) is not { } walk)
            return new MediaTracks(TracksVerdict.OtherKind, kind, null, []);

        for (var step = 0; step < MaxSteps && walk.Offset < length; step++)
        {
            var (offset, needed) = (walk.Offset, (int)Math.Min(walk.Length, length - walk.Offset));
            if (offset < start || offset + needed > start + window.Length)
            {
                var wanted = (int)Math.Min(Math.Max(needed, Piece), length - offset);
                if (wanted > left)
                    break;
                (start, window) = (offset, await read(offset, wanted, cancellationToken));
                left -= wanted;
            }

            var from = (int)(offset - start);
            if (!walk.Take(window.Span.Slice(from, Math.Min(needed, window.Length - from))))
                break;
        }

        return walk.Result;
    }

    private static IHeaderWalk? WalkOf(MediaKind kind, long length) => kind switch
    {
        MediaKind.Matroska or MediaKind.WebM => new MatroskaWalk(kind, length),
        MediaKind.Mp4 or MediaKind.Mp4Audio or MediaKind.QuickTime => new Mp4Walk(kind, length),
        _ => null,
    };
}
