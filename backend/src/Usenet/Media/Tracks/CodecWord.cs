using System.Globalization;

namespace Sluice.Usenet.Media.Tracks;

/// <summary>A codec as people call it and as players are asked about it (RFC 6381).</summary>
/// <param name="Name">For people, as in "HEVC 10-bit".</param>
/// <param name="Type">The media type with the codec; null where there is no word for it.</param>
/// <param name="Channels">Channels by the setup of the codec, which knows better than the container; null where it does not say.</param>
internal readonly record struct CodecWord(string Name, string? Type = null, int? Channels = null)
{
    /// <summary>A picture in the family of MP4, which browsers also ask about for the same codec in Matroska.</summary>
    public static CodecWord Picture(string name, string word) => new(name, $"video/mp4; codecs=\"{word}\"");

    /// <summary>A picture in WebM.</summary>
    public static CodecWord WebPicture(string name, string word) => new(name, $"video/webm; codecs=\"{word}\"");

    /// <summary>Sound in the family of MP4.</summary>
    public static CodecWord Sound(string name, string word, int? channels = null) => new(name, $"audio/mp4; codecs=\"{word}\"", channels);

    /// <summary>Sound in WebM.</summary>
    public static CodecWord WebSound(string name, string word, int? channels = null) => new(name, $"audio/webm; codecs=\"{word}\"", channels);

    /// <summary>The name with the layout of its channels, as in "AC-3 5.1".</summary>
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
