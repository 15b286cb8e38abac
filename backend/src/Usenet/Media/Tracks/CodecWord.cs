using System.Globalization;

namespace Sluice.Usenet.Media.Tracks;

/// <summary>A codec with its display name and its media type for players (RFC 6381).</summary>
/// <param name="Name">Display name, such as "HEVC 10-bit".</param>
/// <param name="Type">The media type with codec; null if none is defined.</param>
/// <param name="Channels">Channels according to the codec setup, which is more reliable than the container; null if unknown.</param>
internal readonly record struct CodecWord(string Name, string? Type = null, int? Channels = null)
{
    /// <summary>A video codec of the MP4 family. Matroska uses the same type for playability checks in browsers.</summary>
    public static CodecWord Picture(string name, string word) => new(name, $"video/mp4; codecs=\"{word}\"");

    public static CodecWord WebPicture(string name, string word) => new(name, $"video/webm; codecs=\"{word}\"");

    public static CodecWord Sound(string name, string word, int? channels = null) => new(name, $"audio/mp4; codecs=\"{word}\"", channels);

    public static CodecWord WebSound(string name, string word, int? channels = null) => new(name, $"audio/webm; codecs=\"{word}\"", channels);

    /// <summary>Returns the name with the channel layout, such as "AC-3 5.1".</summary>
    public string WithChannels(int? channels) => channels switch
    {
        null => Name,
        1 => $"{Name} mono",
        2 => $"{Name} stereo",
        6 => $"{Name} 5.1",
        7 => $"{Name} 6.1",
        8 => $"{Name} 7.1",
        { } many => string.Create(CultureInfo.InvariantCulture, $"{Name} {many} channels"),
    };
}
