using Sluice.Usenet.Nntp;

namespace Sluice.Usenet.Streams;

/// <summary>A segment that a stream holds or waits for, at one moment.</summary>
/// <param name="Offset">Offset in the file of the first byte that the stream uses.</param>
/// <param name="Length">Bytes of the segment that belong to the file.</param>
/// <param name="IsReady">Whether the segment is in memory and verified.</param>
/// <param name="Arrived">Decoded bytes of the whole segment received so far.</param>
/// <param name="IsRepeated">Whether the segment was requested more than once.</param>
/// <param name="Fetch">Progress of the fetch; null if the segment is ready, comes from disk or waits for a retry.</param>
public readonly record struct SlotSnapshot(long Offset, int Length, bool IsReady, int Arrived, bool IsRepeated, FetchSnapshot? Fetch);

/// <summary>The progress of one stream at one moment. Immutable.</summary>
/// <param name="Slots">The segments of the stream's window, in reading order.</param>
/// <param name="AheadBytes">Verified bytes ahead of the read position.</param>
/// <param name="IsCrowded">Whether the stream would buffer more if other streams did not hold their share of the memory.</param>
/// <param name="Streams">Number of streams that share the memory.</param>
/// <param name="Repeated">Segments requested more than once so far.</param>
public sealed record StreamSnapshot(IReadOnlyList<SlotSnapshot> Slots, long AheadBytes, bool IsCrowded, int Streams, int Repeated);
