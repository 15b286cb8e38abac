using System.Text.Json.Serialization;
using Sluice.Server.Playbacks;

namespace Sluice.Server.AdminApi;

/// <summary>
/// The file of a playback; its path is below <c>/content</c>. <c>Film</c> is null if the name is unparsable, and <c>DurationMs</c> until the header is read.
/// </summary>
internal sealed record StreamFile(string Id, string Name, string Path, long Bytes, FilmTitle? Film, long? DurationMs);

/// <summary>
/// A playback: one client, one program, one file. Its id outlives its connections. <c>Player</c> is the program, as in "VLC 3.0"; empty if unknown.
/// <c>Position</c> and <c>AheadBytes</c> are in bytes of the file; <c>FirstByteMs</c> is null until the first byte.
/// </summary>
internal sealed record StreamRow(
    string Id, StreamFile File, string Client, string Player, PlaybackState State, DateTimeOffset StartedAt, DateTimeOffset LastReadAt, long Position,
    long AheadBytes, long BytesSent, long BytesPerSecond, double? FirstByteMs, int Seeks, WaitReason Wait);

/// <summary>A library scan: short reads of one client over many files within the last minute.</summary>
internal sealed record ScanRow(string Client, string Player, int Files, long BytesSent);

/// <summary>All playbacks, the newest first, and library scans. Includes all events up to <c>Seq</c>.</summary>
internal sealed record StreamRows(IReadOnlyList<StreamRow> Items, IReadOnlyList<ScanRow> Scans, long Seq);

/// <summary>
/// Shows the location of the bytes of a file. <c>Cells</c> has one letter for each equal part, 400 at most: <c>-</c> nowhere, <c>m</c> memory, <c>d</c>
/// disk, <c>f</c> in flight, <c>x</c> missing. <c>InFlight</c> and <c>Missing</c> count articles.
/// </summary>
internal sealed record BufferMap(string Cells, long MemoryBytes, long DiskBytes, int InFlight, int Missing);

/// <summary>Progress of an article.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<ArticleFlow>))]
internal enum ArticleFlow
{
    /// <summary>Requested; no byte has arrived.</summary>
    Asked,
    Receiving,
    Late,
}

/// <summary>An article on its way to a playback. <c>Bytes</c> have arrived <c>Ms</c> after the request.</summary>
internal sealed record StreamArticle(string Provider, long Offset, long Bytes, double Ms, ArticleFlow State);

/// <summary>
/// Everything about a playback: articles in flight, most urgent first and at most 100; the last 50 seeks, the newest first; and the bytes of each of
/// the last 60 seconds.
/// </summary>
internal sealed record StreamDetail(
    StreamRow Item, BufferMap Map, IReadOnlyList<StreamArticle> Articles, IReadOnlyList<PlaybackSeek> Seeks, StreamWait Wait, int Retries, int Requests,
    IReadOnlyList<long> Rates);
