using System.Text.Json.Serialization;
using Sluice.Usenet.Media.Subtitles;
using Sluice.Usenet.Media.Tracks;

namespace Sluice.Server.AdminApi;

/// <summary>Where subtitles are.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<SubtitlePlace>))]
internal enum SubtitlePlace
{
    /// <summary>A file next to the film.</summary>
    File,

    /// <summary>A track inside the film.</summary>
    Track,
}

/// <summary>
/// A film's subtitles. <c>Id</c> is stable and identifies them in <c>GET /api/files/{id}/subtitles/{id}</c>. <c>Form</c> says whether they are text, pictures
/// or something else; only text can be read. <c>Sounds</c> says that they describe sounds. <c>Language</c> is ISO 639 or BCP 47; null if unknown.
/// </summary>
internal sealed record SubtitleEntry(
    string Id, SubtitlePlace Place, SubtitleForm Form, string Codec, string? Language, string? Title, bool Forced, bool Sounds, bool Default);

/// <summary>All subtitles of a film: files first, then tracks. <c>Sentence</c> says why the film's tracks could not be read.</summary>
internal sealed record SubtitleList(TracksState State, IReadOnlyList<SubtitleEntry> Items, string? Sentence);

/// <summary>Outcomes of reading a time range.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<SubtitlePartState>))]
internal enum SubtitlePartState
{
    Known,

    /// <summary>Articles for this time range are missing everywhere. Other ranges may be readable.</summary>
    Gap,

    /// <summary>The time range cannot be read right now.</summary>
    Unreadable,

    /// <summary>The film has no usable index, so time ranges cannot be located.</summary>
    Unindexed,
}

/// <summary>A subtitle line. <c>Text</c> is the payload of a WebVTT cue.</summary>
internal sealed record SubtitleLine(long StartMs, long EndMs, string Text)
{
    public static SubtitleLine Of(SubtitleCue cue) => new(cue.Start, cue.End, cue.Text);
}

/// <summary>The lines from <c>FromMs</c> to <c>ToMs</c>. <c>ToMs</c> is less than requested if the time range was too long.</summary>
internal sealed record SubtitlePart(SubtitlePartState State, long FromMs, long ToMs, IReadOnlyList<SubtitleLine> Items, string? Sentence);
