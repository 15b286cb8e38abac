using System.Text.Json.Serialization;

namespace Sluice.Server.AdminApi;

/// <summary>A receipt is of one playback, or of all library scans of a client in one hour.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<ReceiptKind>))]
internal enum ReceiptKind
{
    Playback,
    Scan,
}

/// <summary>How receipts are summed.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<ReceiptGroup>))]
internal enum ReceiptGroup
{
    Provider,
    Month,
}

/// <summary>The file of a playback, which may be deleted by now; its path was below <c>/content</c>. <c>Film</c> is null if the name is unparsable.</summary>
internal sealed record ReceiptFile(string Id, string Name, string Path, FilmTitle? Film);

/// <summary>Bytes from one provider; <c>Name</c> is null if it was removed.</summary>
internal sealed record ReceiptShare(string Id, string? Name, long Bytes);

/// <summary>
/// What a playback cost, with the articles that were prefetched for it and never read. <c>Open</c>: it still plays, and the numbers are at most half a
/// minute old. <c>File</c> is null for a scan, which has the number of its <c>Files</c>. <c>Login</c> is empty if unknown. A wait counts from a second
/// on; <c>FirstByteMs</c> is null if no byte was sent.
/// </summary>
internal sealed record ReceiptRow(
    string Id, ReceiptKind Kind, bool Open, DateTimeOffset StartedAt, DateTimeOffset EndedAt, ReceiptFile? File, string Login, string Client, string Player,
    int Files, long BytesSent, long BytesFromMemory, long BytesFromDisk, long BytesFromProviders, IReadOnlyList<ReceiptShare> Providers, int Waits,
    long WaitedMs, long LongestWaitMs, int Gaps, int Seeks, double? FirstByteMs);

/// <summary>A page of receipts, the newest first.</summary>
internal sealed record ReceiptPage(IReadOnlyList<ReceiptRow> Items, string? Next, long Total);

/// <summary>
/// Sums of a provider or a month: bytes from providers for playbacks and for scans. <c>Key</c> is the id of the provider or the month as "2026-11";
/// <c>Name</c> is null for a month and for a removed provider.
/// </summary>
internal sealed record ReceiptSumRow(string Key, string? Name, long Playbacks, long PlaybackBytes, long ScanBytes);

/// <summary>Providers with the most bytes first, or months with the newest first.</summary>
internal sealed record ReceiptSums(IReadOnlyList<ReceiptSumRow> Items);
