using Sluice.Usenet.Media.Tracks;

namespace Sluice.Usenet.Media.Subtitles;

/// <summary>Reads <paramref name="length"/> bytes of a file at the 0-based <paramref name="offset"/>.</summary>
/// <remarks>More reads may follow in file order up to <paramref name="end"/>, so the reader may prefetch that far but no further.</remarks>
/// <returns>The bytes, fewer only if the file is shorter than stated. Valid until the next call.</returns>
public delegate ValueTask<ReadOnlyMemory<byte>> StretchReader(long offset, int length, long end, CancellationToken cancellationToken);

/// <summary>The outcome of reading the subtitles of a time range.</summary>
public enum StretchVerdict
{
    Known,

    /// <summary>The file has no time index, so a time range can only be found by reading the whole film.</summary>
    NoIndex,

    /// <summary>The bytes at the indexed offset do not match the file's format.</summary>
    Damaged,
}

/// <summary>The subtitles of a time range of a film.</summary>
/// <param name="Cues">The cues shown within the range, in order of start; empty unless known.</param>
/// <param name="End">End of the range that was read, in milliseconds; earlier than requested only if it has too many bytes or cues.</param>
public sealed record SubtitleStretch(StretchVerdict Verdict, IReadOnlyList<SubtitleCue> Cues, long End);

/// <summary>The text subtitles inside a film, read one time range at a time. Immutable; thread-safe.</summary>
public abstract class FilmSubtitles
{
    /// <summary>Maximum time range per read in milliseconds.</summary>
    public const long MaxStretch = 10 * 60_000;

    /// <summary>Maximum bytes of a film read for one time range: two minutes at the highest bit rate of discs.</summary>
    public const long MaxWalk = 2L << 30;

    /// <summary>Maximum cues of a time range. Ten minutes have about 150; karaoke has a few thousand.</summary>
    public const int MaxCues = 5000;

    /// <summary>Maximum length of a cue's text in bytes. Longer texts are skipped.</summary>
    internal const int MaxText = 64 << 10;

    /// <summary>Opens a film by reading its header and its index.</summary>
    /// <param name="read">Reads the film; its exceptions propagate.</param>
    /// <param name="length">Length of the film in bytes.</param>
    /// <returns>The subtitles; null if the header cannot be parsed.</returns>
    public static async ValueTask<FilmSubtitles?> OpenAsync(RangeReader read, long length, CancellationToken cancellationToken)
    {
        var (walk, _) = await TrackReader.WalkAsync(read, length, takesTables: true, cancellationToken);
        if (walk is not { Result: { Verdict: TracksVerdict.Known } header })
            return null;
        IReadOnlyList<TextSource?> sources = [.. header.Tracks.Where(static track => track.Kind == TrackKind.Subtitle).Select(static track => track.Source)];
        return walk is MatroskaWalk matroska
            ? await MatroskaSubtitles.OpenAsync(matroska, sources, read, length, cancellationToken)
            : new Mp4Subtitles(sources, length);
    }

    /// <summary>Reads a time range of a track.</summary>
    /// <param name="track">0-based index among the subtitle tracks of the header.</param>
    /// <param name="from">Start in milliseconds.</param>
    /// <param name="to">End in milliseconds, exclusive; at most <see cref="MaxStretch"/> after <paramref name="from"/>.</param>
    /// <param name="read">Reads the film; its exceptions propagate.</param>
    /// <returns>The subtitles; null if there is no such track or it has no text.</returns>
    public ValueTask<SubtitleStretch?> ReadAsync(int track, long from, long to, StretchReader read, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(read);
        ArgumentOutOfRangeException.ThrowIfNegative(from);
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(to, from);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(to - from, MaxStretch, nameof(to));
        return ReadTrackAsync(track, from, to, read, cancellationToken);
    }

    /// <summary>Reads a time range whose limits have been checked.</summary>
    private protected abstract ValueTask<SubtitleStretch?> ReadTrackAsync(
        int track, long from, long to, StretchReader read, CancellationToken cancellationToken);
}
