using System.Text.Json.Serialization;

namespace Sluice.Server.AdminApi;

/// <summary>What a playback does.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<PlaybackState>))]
internal enum PlaybackState
{
    /// <summary>It is being read.</summary>
    Playing,

    /// <summary>Its client takes nothing for the moment.</summary>
    Paused,

    /// <summary>Nothing is open; it is kept for a minute.</summary>
    Ended,
}

/// <summary>Why a stream does not get on.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<WaitReason>))]
internal enum WaitReason
{
    /// <summary>It does not wait.</summary>
    None,

    /// <summary>All connections are in use.</summary>
    ProviderSlots,

    /// <summary>Providers send more slowly than it is read.</summary>
    ProviderSlow,

    /// <summary>No provider can be reached.</summary>
    ProviderDown,

    /// <summary>The line is full.</summary>
    LineFull,

    /// <summary>The limit of bandwidth holds it up.</summary>
    Limit,

    /// <summary>Other streams have their share of memory.</summary>
    OtherStreams,

    /// <summary>An article is late, missing or damaged and is asked for again.</summary>
    ArticleRetry,

    /// <summary>The processor is busy.</summary>
    Cpu,

    /// <summary>The client reads slowly; nothing is wrong.</summary>
    PlayerSlow,
}

/// <summary>The file of a playback.</summary>
/// <param name="Id">Its id.</param>
/// <param name="Name">Its name.</param>
/// <param name="Path">Its path below <c>/content</c>.</param>
/// <param name="Bytes">Its length.</param>
internal sealed record StreamFile(string Id, string Name, string Path, long Bytes);

/// <summary>A playback: one client, one program, one file.</summary>
/// <param name="Id">Its id, which outlives its connections.</param>
/// <param name="File">What is read.</param>
/// <param name="Client">The address of the client.</param>
/// <param name="Player">The program, as in "VLC 3.0"; empty where it does not say.</param>
/// <param name="State">What it does.</param>
/// <param name="StartedAt">Its first read.</param>
/// <param name="LastReadAt">Its last read.</param>
/// <param name="Position">Where it reads, in bytes.</param>
/// <param name="AheadBytes">Bytes that are held ahead of it.</param>
/// <param name="BytesSent">Bytes that it has got.</param>
/// <param name="BytesPerSecond">What it gets right now.</param>
/// <param name="FirstByteMs">From its first request to the first byte; null before that.</param>
/// <param name="Seeks">How often it went elsewhere.</param>
/// <param name="Wait">Why it waits.</param>
internal sealed record StreamRow(
    string Id, StreamFile File, string Client, string Player, PlaybackState State, DateTimeOffset StartedAt, DateTimeOffset LastReadAt, long Position,
    long AheadBytes, long BytesSent, long BytesPerSecond, double? FirstByteMs, int Seeks, WaitReason Wait);

/// <summary>Short reads of one client over many files.</summary>
/// <param name="Client">The address of the client.</param>
/// <param name="Player">The program; empty where it does not say.</param>
/// <param name="Files">Files of the last minute.</param>
/// <param name="BytesSent">Bytes of the last minute.</param>
internal sealed record ScanRow(string Client, string Player, int Files, long BytesSent);

/// <summary>What is playing.</summary>
/// <param name="Items">Playbacks, the newest first.</param>
/// <param name="Scans">Library scans.</param>
/// <param name="Seq">Events up to this number are in it.</param>
internal sealed record StreamRows(IReadOnlyList<StreamRow> Items, IReadOnlyList<ScanRow> Scans, long Seq);

/// <summary>Where the bytes of a file are.</summary>
/// <param name="Cells">
/// One letter for each equal part of the file, 400 at most: <c>-</c> nowhere, <c>m</c> in memory, <c>d</c> on disk, <c>f</c> on the way, <c>x</c> missing.
/// </param>
/// <param name="MemoryBytes">Bytes of it in memory.</param>
/// <param name="DiskBytes">Bytes of it on disk.</param>
/// <param name="InFlight">Articles of it on the way.</param>
/// <param name="Missing">Articles of it that are known to be gone.</param>
internal sealed record BufferMap(string Cells, long MemoryBytes, long DiskBytes, int InFlight, int Missing);

/// <summary>What a connection does for a playback.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<ArticleFlow>))]
internal enum ArticleFlow
{
    /// <summary>The article was asked for, and nothing has come.</summary>
    Asked,

    /// <summary>It is coming.</summary>
    Receiving,

    /// <summary>It is late.</summary>
    Late,
}

/// <summary>An article that is on its way to a playback.</summary>
/// <param name="Provider">The name of the provider.</param>
/// <param name="Offset">Where its bytes belong in the file.</param>
/// <param name="Bytes">Bytes of it that have come.</param>
/// <param name="Ms">Since it was asked for.</param>
/// <param name="State">What it does.</param>
internal sealed record StreamArticle(string Provider, long Offset, long Bytes, double Ms, ArticleFlow State);

/// <summary>A seek of a playback.</summary>
/// <param name="At">When.</param>
/// <param name="Offset">Where to.</param>
/// <param name="FirstByteMs">To its first byte; null before that.</param>
internal sealed record StreamSeek(DateTimeOffset At, long Offset, double? FirstByteMs);

/// <summary>Why a playback waits, with the number that shows it.</summary>
/// <param name="Reason">Why.</param>
/// <param name="Value">The number that shows it; null where there is none.</param>
/// <param name="Unit">What it counts: <c>connections</c>, <c>bytes-per-second</c>, <c>ms</c>, <c>percent</c>, <c>streams</c>; null where there is none.</param>
/// <param name="Since">Since when.</param>
internal sealed record StreamWait(WaitReason Reason, double? Value, string? Unit, DateTimeOffset Since);

/// <summary>A playback with all that is known of it.</summary>
/// <param name="Item">Its row.</param>
/// <param name="Map">Where the bytes of its file are.</param>
/// <param name="Articles">What is on its way, the first needed first; at most 100.</param>
/// <param name="Seeks">Its last 50 seeks, the newest first.</param>
/// <param name="Wait">Why it waits.</param>
/// <param name="Retries">Articles that were asked for more than once.</param>
/// <param name="Requests">Requests of it so far.</param>
/// <param name="Rates">What it got in each of the last 60 seconds, in bytes.</param>
internal sealed record StreamDetail(
    StreamRow Item, BufferMap Map, IReadOnlyList<StreamArticle> Articles, IReadOnlyList<StreamSeek> Seeks, StreamWait Wait, int Retries, int Requests,
    IReadOnlyList<long> Rates);

/// <summary>How playbacks stand in JSON, generated at build.</summary>
[JsonSourceGenerationOptions(System.Text.Json.JsonSerializerDefaults.Web)]
[JsonSerializable(typeof(StreamRows))]
[JsonSerializable(typeof(StreamDetail))]
internal sealed partial class StreamsJson : JsonSerializerContext;
