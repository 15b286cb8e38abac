namespace Sluice.Usenet.Streams;

/// <summary>The exact place of one segment in its posted file.</summary>
/// <param name="Index">0-based; the NZB's number less one.</param>
/// <param name="Begin">Offset of its first decoded byte in the posted file, 0-based.</param>
/// <param name="Length">Decoded bytes; 0 only for the single segment of an empty file or a part posted empty.</param>
public readonly record struct Segment(int Index, long Begin, int Length)
{
    /// <summary>Offset behind its last byte.</summary>
    public long End => Begin + Length;
}
