namespace Sluice.Usenet.Media.Tracks;

public enum TrackKind
{
    Video,

    Audio,

    /// <summary>Text, or pictures of text.</summary>
    Subtitle,
}

/// <summary>A track as described by the file's header.</summary>
/// <param name="Codec">Display name of the codec, such as "HEVC 10-bit" or "E-AC-3 5.1".</param>
/// <param name="Type">Media type with codec by RFC 6381, such as <c>video/mp4; codecs="avc1.640028"</c>; null if none is defined.</param>
public sealed record MediaTrack(TrackKind Kind, string Codec, string? Type)
{
    /// <summary>Language as stated by the file, ISO 639-2 or BCP 47; null if unknown.</summary>
    public string? Language { get; init; }

    /// <summary>Track name; null if absent.</summary>
    public string? Title { get; init; }

    /// <summary>Number of audio channels; null if unknown or not audio.</summary>
    public int? Channels { get; init; }

    /// <summary>Width in pixels; null if not video.</summary>
    public int? Width { get; init; }

    /// <summary>Height in pixels; null if not video.</summary>
    public int? Height { get; init; }

    /// <summary>Whether players select the track by default.</summary>
    public bool IsDefault { get; init; }
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
/// <param name="Verdict">The outcome of reading the header.</param>
/// <param name="Kind">Kind by the first bytes.</param>
/// <param name="Duration">Playing time; null if unknown.</param>
/// <param name="Tracks">The tracks in file order; empty unless known.</param>
public sealed record MediaTracks(TracksVerdict Verdict, MediaKind Kind, TimeSpan? Duration, IReadOnlyList<MediaTrack> Tracks);
