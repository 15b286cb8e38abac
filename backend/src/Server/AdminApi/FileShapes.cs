using System.Text.Json.Serialization;
using Sluice.Usenet.Media.Tracks;

namespace Sluice.Server.AdminApi;

/// <summary>What an entry of the tree is.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<FileEntryKind>))]
internal enum FileEntryKind
{
    /// <summary>A category.</summary>
    Category,

    /// <summary>A release.</summary>
    Release,

    /// <summary>A folder inside a release.</summary>
    Folder,

    /// <summary>A file.</summary>
    File,
}

/// <summary>What a file is for people.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<FileMedia>))]
internal enum FileMedia
{
    /// <summary>A film.</summary>
    Video,

    /// <summary>Sound.</summary>
    Audio,

    /// <summary>Subtitles.</summary>
    Subtitle,

    /// <summary>A picture.</summary>
    Image,

    /// <summary>Anything else.</summary>
    Other,
}

/// <summary>An entry of the tree.</summary>
/// <param name="Kind">What it is.</param>
/// <param name="Name">Its name.</param>
/// <param name="Path">Its path below <c>/content</c>.</param>
/// <param name="Id">Id of a file; null for all others.</param>
/// <param name="Bytes">Length of a file, or of all files of a release; null where that is not counted.</param>
/// <param name="ModifiedAt">When it was published.</param>
/// <param name="Media">What a file is; null for all others.</param>
internal sealed record FileRow(FileEntryKind Kind, string Name, string Path, string? Id, long? Bytes, DateTimeOffset ModifiedAt, FileMedia? Media);

/// <summary>A page of a folder, or of what a search finds.</summary>
/// <param name="Path">The folder, below <c>/content</c>; of a search the folder that it looks in.</param>
/// <param name="Items">Its rows.</param>
/// <param name="Next">Cursor of the next page; null behind the last.</param>
/// <param name="Total">Entries that match.</param>
/// <param name="Seq">Events up to this number are in it.</param>
internal sealed record FilePage(string Path, IReadOnlyList<FileRow> Items, string? Next, long Total, long Seq);

/// <summary>Ways to a file.</summary>
/// <param name="WebDav">Its address in the tree, for players that log in.</param>
/// <param name="Signed">A link that needs no password.</param>
/// <param name="SignedUntil">Until when that works.</param>
/// <param name="ArrPath">
/// The path that Sonarr and its relatives use, below the folder that the SABnzbd API tells them; null where no mount is set, and for the built-in clip.
/// </param>
internal sealed record FileLinks(string WebDav, string Signed, DateTimeOffset SignedUntil, string? ArrPath);

/// <summary>A file with all that is known of it.</summary>
/// <param name="Item">Its row.</param>
/// <param name="Release">Name of its release; the clip's for the built-in clip.</param>
/// <param name="Category">Its category.</param>
/// <param name="PostedName">The name that it was posted with, where that differs; else null.</param>
/// <param name="Encrypted">Whether it is decrypted while it is read.</param>
/// <param name="Volumes">Posted files that its bytes lie in.</param>
/// <param name="Links">Ways to it.</param>
/// <param name="HasNzb">Whether its NZB can be downloaded.</param>
internal sealed record FileDetail(
    FileRow Item, string Release, string Category, string? PostedName, bool Encrypted, int Volumes, FileLinks Links, bool HasNzb);

/// <summary>Whether the tracks of a file could be read.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<TracksState>))]
internal enum TracksState
{
    /// <summary>They stand below.</summary>
    Known,

    /// <summary>The kind of file says nothing that can be read here.</summary>
    Unknown,

    /// <summary>The file cannot be read now.</summary>
    Unreadable,
}

/// <summary>A track of a file.</summary>
/// <param name="Kind">What it is.</param>
/// <param name="Codec">Its codec for people, as in "HEVC 10-bit".</param>
/// <param name="Type">What <c>canPlayType</c> is asked about it alone, as in <c>video/mp4; codecs="avc1.640028"</c>; null where there is no such word.</param>
/// <param name="Language">Its language as the file says; null for none.</param>
/// <param name="Title">Its name; null for none.</param>
/// <param name="Channels">Channels of sound; null elsewhere.</param>
/// <param name="Width">Width of a picture in pixels; null elsewhere.</param>
/// <param name="Height">Height of a picture in pixels; null elsewhere.</param>
/// <param name="Default">Whether players take it by themselves.</param>
internal sealed record FileTrack(
    TrackKind Kind, string Codec, string? Type, string? Language, string? Title, int? Channels, int? Width, int? Height, bool Default);

/// <summary>The tracks of a file, read from its header.</summary>
/// <param name="State">Whether they could be read.</param>
/// <param name="Container">The kind of file for people, as in "Matroska"; null where it is not known.</param>
/// <param name="DurationMs">How long it plays; null where it does not say.</param>
/// <param name="Items">The tracks, in the order of the file.</param>
/// <param name="Sentence">Why they could not be read; null where they could.</param>
internal sealed record FileTracks(TracksState State, string? Container, long? DurationMs, IReadOnlyList<FileTrack> Items, string? Sentence);

/// <summary>How files stand in JSON, generated at build.</summary>
[JsonSourceGenerationOptions(System.Text.Json.JsonSerializerDefaults.Web)]
[JsonSerializable(typeof(FilePage))]
[JsonSerializable(typeof(FileDetail))]
[JsonSerializable(typeof(FileTracks))]
internal sealed partial class FilesJson : JsonSerializerContext;
