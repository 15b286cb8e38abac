namespace Sluice.Usenet.Media.Tracks;

/// <summary>Reads <paramref name="length"/> bytes of a file at the 0-based <paramref name="offset"/>; the range must lie within the file.</summary>
/// <returns>The bytes, fewer only if the file is shorter than stated. Valid until the next call.</returns>
public delegate ValueTask<ReadOnlyMemory<byte>> RangeReader(long offset, int length, CancellationToken cancellationToken);

/// <summary>Parses a file piece by piece. Does no I/O: requests ranges and receives their bytes.</summary>
internal interface IFileWalk
{
    /// <summary>Offset of the next requested range.</summary>
    long Offset { get; }

    /// <summary>Length of the next requested range in bytes.</summary>
    int Length { get; }

    /// <summary>Parses the requested bytes, fewer only at the end of the file; returns whether more are needed.</summary>
    bool Take(ReadOnlySpan<byte> bytes);
}

/// <summary>Parses the header of a file.</summary>
internal interface IHeaderWalk : IFileWalk
{
    /// <summary>The tracks found so far.</summary>
    MediaTracks Result { get; }
}

/// <summary>Reads the tracks of a file from its header: at most <see cref="MaxRead"/> bytes. Exceptions of the range reader propagate.</summary>
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
        var (walk, kind) = await WalkAsync(read, length, takesTables: false, cancellationToken);
        return walk?.Result ?? new MediaTracks(TracksVerdict.OtherKind, kind, null, []);
    }

    /// <summary>Reads the header of a file. Returns the walk, or null for an unsupported kind of file.</summary>
    /// <param name="takesTables">Whether the sample tables of subtitle tracks in MP4 are read too.</param>
    internal static async ValueTask<(IHeaderWalk? Walk, MediaKind Kind)> WalkAsync(
        RangeReader read, long length, bool takesTables, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(read);
        var first = ReadOnlyMemory<byte>.Empty;
        if (length > 0)
            first = await read(0, (int)Math.Min(length, FirstPiece), cancellationToken);
        var kind = MediaSignature.Recognise(first.Span[..Math.Min(first.Length, MediaSignature.SufficientLength)]);
        if (WalkOf(kind, length, takesTables) is not { } walk)
            return (null, kind);
        var window = new WalkWindow(first) { Piece = Piece, Left = MaxRead - first.Length, MaxSteps = MaxSteps };
        await window.RunAsync(walk, read, length, cancellationToken);
        return (walk, kind);
    }

    private static IHeaderWalk? WalkOf(MediaKind kind, long length, bool takesTables) => kind switch
    {
        MediaKind.Matroska or MediaKind.WebM => new MatroskaWalk(kind, length),
        MediaKind.Mp4 or MediaKind.Mp4Audio or MediaKind.QuickTime => new Mp4Walk(kind, length, takesTables),
        _ => null,
    };
}

/// <summary>The bytes around a walk's position. One read serves many small elements.</summary>
/// <param name="start">Bytes already read from the beginning of the file.</param>
internal sealed class WalkWindow(ReadOnlyMemory<byte> start)
{
    private ReadOnlyMemory<byte> _bytes = start;
    private long _start;

    /// <summary>Minimum bytes per read.</summary>
    public required int Piece { get; init; }

    /// <summary>Bytes that may still be read.</summary>
    public required long Left { get; set; }

    /// <summary>Maximum number of elements, because a longer walk runs in a circle.</summary>
    public required int MaxSteps { get; init; }

    /// <summary>Runs a walk until it needs no more bytes or reaches a limit. Returns whether the walk ended by itself.</summary>
    /// <param name="end">Offset after the last byte that may be read.</param>
    public async ValueTask<bool> RunAsync(IFileWalk walk, RangeReader read, long end, CancellationToken cancellationToken)
    {
        for (var step = 0; walk.Offset < end; step++)
        {
            if (step == MaxSteps)
                return false;
            var (offset, needed) = (walk.Offset, (int)Math.Min(walk.Length, end - walk.Offset));
            if (offset < _start || offset + needed > _start + _bytes.Length)
            {
                var wanted = (int)Math.Min(Math.Max(needed, Piece), end - offset);
                if (wanted > Left)
                    return false;
                (_start, _bytes) = (offset, await read(offset, wanted, cancellationToken));
                Left -= wanted;
            }

            var from = (int)(offset - _start);
            if (!walk.Take(_bytes.Span.Slice(from, Math.Min(needed, _bytes.Length - from))))
                return true;
        }

        return true;
    }
}
