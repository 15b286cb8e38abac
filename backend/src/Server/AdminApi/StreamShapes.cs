using System.Text.Json.Serialization;
using Sluice.Server.Playbacks;

namespace Sluice.Server.AdminApi;

/// <summary>
/// The file of a playback, with its path below <c>/content</c>. <c>Film</c> is null if the name cannot be parsed, <c>DurationMs</c> until the header is read.
/// </summary>
internal sealed record StreamFile(string Id, string Name, string Path, long Bytes, FilmTitle? Film, long? DurationMs);

/// <summary>
/// A playback: one client, one program, one file. Its id outlives its connections. <c>Player</c> is the program, as in "VLC 3.0"; empty if unknown.
/// <c>Position</c> and <c>AheadBytes</c> count bytes of the file; <c>FirstByteMs</c> is null until the first byte is sent.
/// </summary>
internal sealed record StreamRow(
    string Id, StreamFile File, string Client, string Player, PlaybackState State, DateTimeOffset StartedAt, DateTimeOffset LastReadAt, long Position,
    long AheadBytes, long BytesSent, long BytesPerSecond, double? FirstByteMs, int Seeks, WaitReason Wait);

/// <summary>A library scan: one client made short reads of many files within the last minute.</summary>
internal sealed record ScanRow(string Client, string Player, int Files, long BytesSent);

/// <summary>All playbacks, newest first, and library scans. Reflects all events up to <c>Seq</c>.</summary>
internal sealed record StreamRows(IReadOnlyList<StreamRow> Items, IReadOnlyList<ScanRow> Scans, long Seq);

/// <summary>
/// Where the bytes of a file are. <c>Cells</c> has one letter per equal part, at most 400: <c>-</c> nowhere, <c>m</c> memory, <c>d</c> disk, <c>f</c> in
/// flight, <c>x</c> missing. <c>InFlight</c> and <c>Missing</c> count articles.
/// </summary>
internal sealed record BufferMap(string Cells, long MemoryBytes, long DiskBytes, int InFlight, int Missing);

/// <summary>Progress of an article.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<ArticleFlow>))]
internal enum ArticleFlow
{
    /// <summary>Requested, but no byte has arrived.</summary>
    Asked,
    Receiving,
    Late,
}

/// <summary>An article being fetched for a playback. <c>Bytes</c> have arrived within <c>Ms</c> of the request.</summary>
internal sealed record StreamArticle(string Provider, long Offset, long Bytes, double Ms, ArticleFlow State);

/// <summary>
/// Everything about a playback: at most 100 articles in flight, most urgent first; the last 50 seeks, newest first; and the bytes sent in each of the last 60
/// seconds.
/// </summary>
internal sealed record StreamDetail(
    StreamRow Item, BufferMap Map, IReadOnlyList<StreamArticle> Articles, IReadOnlyList<PlaybackSeek> Seeks, StreamWait Wait, int Retries, int Requests,
    IReadOnlyList<long> Rates);
