namespace Sluice.Usenet.Media.Tracks;

/// <summary>What a track is.</summary>
public enum TrackKind
{
    /// <summary>A picture.</summary>
    Video,

    /// <summary>Sound.</summary>
    Audio,

    /// <summary>Text, or pictures of text.</summary>
    Subtitle,
}

/// <summary>A track as the header of a file describes it.</summary>
/// <param name="Kind">What it is.</param>
/// <param name="Codec">Its codec for people, as in "HEVC 10-bit" or "E-AC-3 5.1".</param>
/// <param name="Type">Its media type with the codec by RFC 6381, as in <c>video/mp4; codecs="avc1.640028"</c>; null where no word says what it is.</param>
public sealed record MediaTrack(TrackKind Kind, string Codec, string? Type)
{
    /// <summary>Its language as the file says, by ISO 639-2 or BCP 47; null where that is unknown.</summary>
    public string? Language { get; init; }

    /// <summary>Its name; null for none.</summary>
    public string? Title { get; init; }

    /// <summary>Channels of sound; null elsewhere, and where the file does not say.</summary>
    public int? Channels { get; init; }

    /// <summary>Width of a picture in pixels; null elsewhere.</summary>
    public int? Width { get; init; }

    /// <summary>Height of a picture in pixels; null elsewhere.</summary>
    public int? Height { get; init; }

    /// <summary>Whether players take it by themselves.</summary>
    public bool IsDefault { get; init; }
}

/// <summary>How the reading of a header ended.</summary>
public enum TracksVerdict
{
    /// <summary>The tracks are known.</summary>
    Known,

    /// <summary>Files of this kind are not read here.</summary>
    OtherKind,

    /// <summary>The header contradicts itself, ends too early or is larger than any that makes sense.</summary>
    Damaged,
}

/// <summary>What the header of a file says.</summary>
/// <param name="Verdict">How the reading ended.</param>
/// <param name="Kind">What the file is by its first bytes.</param>
/// <param name="Duration">How long it plays; null where it does not say.</param>
/// <param name="Tracks">Its tracks, in its order; none unless they are known.</param>
public sealed record MediaTracks(TracksVerdict Verdict, MediaKind Kind, TimeSpan? Duration, IReadOnlyList<MediaTrack> Tracks);
