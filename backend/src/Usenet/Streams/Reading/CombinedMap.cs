using Sluice.Usenet.Streams.Loading;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;

namespace Sluice.Usenet.Streams.Reading;

/// <summary>
/// Presents slices of many posted files as one file, and finds the segment of each byte. Pieces are numbered across all slices, so that a window can
/// read ahead past the end of one posted file.
/// </summary>
/// <remarks>Immutable and thread-safe. Lookups are arithmetic and a binary search over the slices.</remarks>
internal sealed class CombinedMap
{
    private readonly Slice[] _slices;

    // Search keys of the slices: their offsets, and the numbers of their first pieces.
    private readonly long[] _begins;
    private readonly int[] _firstPieces;

    /// <exception cref="ArgumentException">A slice lies outside its posted file.</exception>
    public CombinedMap(IReadOnlyList<FileExtent> extents)
    {
        var slices = new List<Slice>(extents.Count);
        foreach (var extent in extents)
        {
            if (extent.Offset < 0 || extent.Length < 0 || extent.Offset > extent.File.Map.Length - extent.Length)
                throw new ArgumentException("A slice lies outside its file.", nameof(extents));
            if (extent.Length == 0)
                continue;

            var first = extent.File.Map.Locate(extent.Offset).Index;
            var last = extent.File.Map.Locate(extent.Offset + extent.Length - 1).Index;
            slices.Add(new Slice(extent, Length, PieceCount, first));
            Length += extent.Length;
            PieceCount = checked(PieceCount + last - first + 1);
        }

        _slices = [.. slices];
        _begins = [.. slices.Select(static slice => slice.Begin)];
        _firstPieces = [.. slices.Select(static slice => slice.FirstPiece)];
    }

    public long Length { get; }

    public int PieceCount { get; }

    /// <summary>The piece with this number; empty if the part was posted empty.</summary>
    public Piece this[int number]
    {
        get
        {
            var slice = _slices[AtOrBefore(Array.BinarySearch(_firstPieces, number))];
            var extent = slice.Extent;
            var segment = extent.File.Map[slice.FirstSegment + number - slice.FirstPiece];
            var from = Math.Max(segment.Begin, extent.Offset);
            var to = Math.Min(segment.End, extent.Offset + extent.Length);
            return new Piece(extent.File, segment, slice.Begin + from - extent.Offset, (int)(from - segment.Begin), (int)Math.Max(0, to - from));
        }
    }

    public CombinedMap With(PostedFile refuted, SegmentMap corrected)
    {
        var file = refuted.With(corrected);
        return new CombinedMap([.. _slices.Select(slice => ReferenceEquals(slice.Extent.File, refuted) ? slice.Extent with { File = file } : slice.Extent)]);
    }

    /// <summary>Returns the number of the piece that holds the byte at <paramref name="position"/>, which must be below <see cref="Length"/>.</summary>
    public int Locate(long position)
    {
        var slice = _slices[AtOrBefore(Array.BinarySearch(_begins, position))];
        var segment = slice.Extent.File.Map.Locate(slice.Extent.Offset + position - slice.Begin);
        return slice.FirstPiece + segment.Index - slice.FirstSegment;
    }

    // Without an exact match, BinarySearch returns the complement of the next slice's index. The byte lies in the slice before that.
    private static int AtOrBefore(int found) => found >= 0 ? found : Math.Max(~found - 1, 0);

    private readonly record struct Slice(FileExtent Extent, long Begin, int FirstPiece, int FirstSegment);
}
