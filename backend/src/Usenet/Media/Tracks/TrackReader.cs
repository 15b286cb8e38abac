namespace Sluice.Usenet.Media.Tracks;

/// <summary>Reads <paramref name="length"/> bytes of a file at the 0-based <paramref name="offset"/>; the range must lie within the file.</summary>
/// <returns>The bytes, fewer only if the file is shorter than stated. Valid until the next call.</returns>
public delegate ValueTask<ReadOnlyMemory<byte>> RangeReader(long offset, int length, CancellationToken cancellationToken);

/// <summary>Parses a header piece by piece. Pure: requests ranges and receives their bytes.</summary>
internal interface IHeaderWalk
{
    /// <summary>Offset of the next requested range.</summary>
    long Offset { get; }

    /// <summary>Length of the next requested range in bytes.</summary>
    int Length { get; }

    /// <summary>Parses the requested bytes, fewer only at the end of the file; returns whether more are needed.</summary>
    bool Take(ReadOnlySpan<byte> bytes);

    /// <summary>The findings so far.</summary>
    MediaTracks Result { get; }
}

/// <summary>
/// Reads the tracks of a file from its header before playback. Reads at most <see cref="MaxRead"/> bytes; exceptions come from the range reader.
/// </summary>
public static class TrackReader
{
    /// <summary>Maximum bytes read from one file.</summary>
    public const int MaxRead = 4 << 20;

    // Most headers fit in the first piece, so that one read suffices; others need a few parts of the file.
    private const int FirstPiece = 64 << 10;
    private const int Piece = 32 << 10;

    // No valid header has more elements, so a longer walk runs in a circle and must stop.
    private const int MaxSteps = 50_000;

    /// <summary>Reads the tracks of a file of the given length in bytes.</summary>
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
