using Sluice.Usenet.Streams.Loading;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Streams.Reading;

/// <summary>Finds where the bytes of a file are, part by part.</summary>
/// <remarks>
/// The cost does not grow with the file, which may have 140,000 segments. Segments in memory, in transit or gone come from tables with the file of each entry,
/// so segments loaded for another file are not seen. The disk cache knows only hashes, so pieces are looked up by message-id: only pieces that may be on disk,
/// and only samples if there are very many.
/// </remarks>
internal static class CellFinder
{
    private const string Letters = "-dmfx";

    // Maximum number of pieces to look up on disk.
    private const int MostLookups = 400;

    public static async Task<FileCells> FindAsync(CombinedMap map, SegmentFetcher fetcher, int mostCells, CancellationToken cancellationToken)
    {
        if (map.Length == 0)
            return new FileCells("", 0, 0, 0, 0);
        var cells = new byte[Math.Min(mostCells, map.PieceCount)];
        var origin = map[0].File.Origin;
        var (underWay, held, gone) = fetcher.Find(origin);
        var diskBytes = 0L;
        foreach (var (number, behind) in OnDisk(map, fetcher))
        {
            var piece = map[number];
            var ids = await piece.File.Ids.GetAsync(piece.Segment.Index, cancellationToken);
            if (ids.Primary.IsEmpty || fetcher.BytesOnDisk(new SegmentKey(ids, piece.Segment)) is not (> 0 and var bytes))
                continue;
            diskBytes += bytes * (behind - number);
            Paint(piece.Begin, map[behind - 1].End, 1);
        }

        PaintAll(held, 2);
        PaintAll(underWay, 3);
        PaintAll(gone, 4);
        return new FileCells(
            string.Create(cells.Length, cells, static (text, ranks) =>
            {
                for (var i = 0; i < text.Length; i++)
                    text[i] = Letters[ranks[i]];
            }),
            held.Sum(static stretch => (long)stretch.Length),
            diskBytes,
            underWay.Count,
            gone.Count);

        void PaintAll(IReadOnlyList<Stretch> stretches, byte rank)
        {
            foreach (var stretch in stretches)
                Paint(stretch.Begin, stretch.Begin + stretch.Length, rank);
        }

        void Paint(long begin, long end, byte rank)
        {
            if (end <= begin || begin < 0 || end > map.Length)
                return;
            var (first, last) = (CellOf(begin), CellOf(end - 1));
            for (var cell = first; cell <= last; cell++)
                cells[cell] = Math.Max(cells[cell], rank);
        }

        int CellOf(long offset) => (int)(offset * (Int128)cells.Length / map.Length);
    }

    /// <summary>Returns the pieces to look up on disk, each with the end (exclusive) of the range that it represents.</summary>
    private static IEnumerable<(int Number, int Behind)> OnDisk(CombinedMap map, SegmentFetcher fetcher)
    {
        // The disk cache keeps either the whole file or both ends.
        var head = CountFrom(0, 1);
        var tail = head == map.PieceCount ? 0 : CountFrom(map.PieceCount - 1, -1);
        return Sample(0, head).Concat(Sample(map.PieceCount - tail, map.PieceCount));

        int CountFrom(int first, int step)
        {
            if (!fetcher.MayBeOnDisk(map[first]))
                return 0;
            if (fetcher.MayBeOnDisk(map[map.PieceCount / 2]))
                return map.PieceCount;
            var number = first;
            while (number >= 0 && number < map.PieceCount && fetcher.MayBeOnDisk(map[number]))
                number += step;
            return Math.Abs(number - first);
        }

        static IEnumerable<(int Number, int Behind)> Sample(int from, int to)
        {
            var step = Math.Max(1, (to - from + MostLookups - 1) / MostLookups);
            for (var number = from; number < to; number += step)
                yield return (number, Math.Min(number + step, to));
        }
    }
}
