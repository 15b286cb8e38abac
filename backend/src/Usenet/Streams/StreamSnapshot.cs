using Sluice.Usenet.Nntp;

namespace Sluice.Usenet.Streams;

/// <summary>A segment that a stream holds, or waits for, at one moment.</summary>
/// <param name="Offset">Where its share of the file begins.</param>
/// <param name="Length">Bytes of that share.</param>
/// <param name="IsReady">Whether it is there, proved.</param>
/// <param name="Arrived">Decoded bytes that have come of the whole segment.</param>
/// <param name="IsRepeated">Whether it was asked for more than once.</param>
/// <param name="Fetch">How its fetch gets on; null where there is none: it is ready, comes from disk, or the next try is put off.</param>
public readonly record struct SlotSnapshot(long Offset, int Length, bool IsReady, int Arrived, bool IsRepeated, FetchSnapshot? Fetch);

/// <summary>How the reading of one stream gets on at one moment.</summary>
/// <remarks>Immutable.</remarks>
/// <param name="Slots">The segments of its window in their order, the one that is read first.</param>
/// <param name="AheadBytes">Bytes behind its position that are there, proved.</param>
/// <param name="IsCrowded">Whether it would hold more ahead if other streams did not have their share of the memory.</param>
/// <param name="Streams">Streams that share the memory.</param>
/// <param name="Repeated">Segments so far that were asked for more than once.</param>
public sealed record StreamSnapshot(IReadOnlyList<SlotSnapshot> Slots, long AheadBytes, bool IsCrowded, int Streams, int Repeated);
