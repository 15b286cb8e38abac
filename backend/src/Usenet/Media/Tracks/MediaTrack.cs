namespace Sluice.Usenet.Media.Tracks;

public enum TrackKind
{
    Video,

    Audio,

    /// <summary>Text, or pictures of text.</summary>
    Subtitle,
}

/// <summary>How a subtitle track stores its lines.</summary>
public enum SubtitleForm
{
    /// <summary>Text that can be read one time range at a time.</summary>
    Text,

    /// <summary>Pictures of text, as on discs.</summary>
    Picture,

    /// <summary>An unsupported form.</summary>
    Other,
}

/// <summary>A track as described by the file's header.</summary>
/// <param name="Codec">Display name of the codec, such as "HEVC 10-bit" or "E-AC-3 5.1".</param>
/// <param name="Type">Media type with codec as in RFC 6381, such as <c>video/mp4; codecs="avc1.640028"</c>; null if none is defined.</param>
public sealed record MediaTrack(TrackKind Kind, string Codec, string? Type)
{
    /// <summary>Language as stated by the file, ISO 639-2 or BCP 47; null if unknown.</summary>
    public string? Language { get; init; }

    public string? Title { get; init; }

    /// <summary>Number of audio channels; null if unknown or not audio.</summary>
    public int? Channels { get; init; }

    /// <summary>Width in pixels; null if not video.</summary>
    public int? Width { get; init; }

    /// <summary>Height in pixels; null if not video.</summary>
    public int? Height { get; init; }

    /// <summary>Whether players select the track by default.</summary>
    public bool IsDefault { get; init; }

    /// <summary>Whether players show the track even if subtitles are off, as for signs and foreign dialog.</summary>
    public bool IsForced { get; init; }

    /// <summary>Whether subtitles also describe sounds, for hearing-impaired viewers.</summary>
    public bool DescribesSounds { get; init; }

    /// <summary>How the lines of subtitles are stored; null if not subtitles.</summary>
    public SubtitleForm? Form { get; init; }

    /// <summary>The location of the subtitle text; null unless <see cref="Form"/> is text.</summary>
    internal TextSource? Source { get; init; }
}

/// <summary>The format of a subtitle track's text.</summary>
internal enum TextFormat
{
    SubRip,

    /// <summary>ASS or SSA: the fields of an event without its times.</summary>
    SubStation,

    WebVtt,

    /// <summary>A WebVTT cue after a line with its name and a line with its settings, as in WebM.</summary>
    WebVttWithHead,

    /// <summary>The timed text of MP4 (3GPP TS 26.245): a length, the text, then style boxes.</summary>
    Timed,
}

/// <summary>The location and encoding of a subtitle track's text.</summary>
/// <param name="Number">Number of the track in the blocks of a Matroska file; 0 in MP4.</param>
internal sealed record TextSource(TextFormat Format, ulong Number)
{
    /// <summary>Whether blocks are compressed with zlib.</summary>
    public bool IsDeflated { get; init; }

    /// <summary>Bytes that were removed from the beginning of each block.</summary>
    public byte[] StrippedHead { get; init; } = [];

    /// <summary>The sample tables of an MP4 track; null in Matroska, or if not requested.</summary>
    public Mp4Tables? Tables { get; init; }
}

/// <summary>The outcome of reading a header.</summary>
public enum TracksVerdict
{
    Known,

    /// <summary>The file is of a kind this reader does not support.</summary>
    OtherKind,

    /// <summary>The header contradicts itself, is truncated or is implausibly large.</summary>
    Damaged,
}

/// <summary>The tracks of a file.</summary>
/// <param name="Duration">Playing time; null if unknown.</param>
/// <param name="Tracks">The tracks in file order; empty unless known.</param>
public sealed record MediaTracks(TracksVerdict Verdict, MediaKind Kind, TimeSpan? Duration, IReadOnlyList<MediaTrack> Tracks);
