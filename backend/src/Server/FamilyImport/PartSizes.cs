using Sluice.Usenet.Streams.Maps;

namespace Sluice.Server.FamilyImport;

/// <summary>
/// Estimates segment positions from segment count and file length. If an article contradicts a map, the map is corrected before bytes are served (IMP-32).
/// </summary>
internal static class PartSizes
{
    // yEnc lines usually decode to 128 bytes, and posters split files at line boundaries.
    private const long Line = 128;

    // Part sizes used by common posting programs, most frequent first.
    private static readonly long[] Usual =
    [
        716_800, 768_000, 640_000, 750_000, 737_280, 1_024_000, 1_048_576, 384_000, 500_000, 512_000, 524_288, 768_768, 358_400, 256_000, 262_144, 128_000, 131_072,
    ];

    /// <summary>Returns a release's likely part size from the segment counts and lengths of its files; null if no size fits all files.</summary>
    public static long? OfRelease(IEnumerable<(int Count, long Length)> files)
    {
        var (least, most) = (1L, (long)SegmentMap.MaxSegmentLength);
        var isKnown = false;
        foreach (var (count, length) in files.Where(file => file.Count > 1))
        {
            var (low, high) = Bounds(count, length);
            (least, most, isKnown) = (Math.Max(least, low), Math.Min(most, high), true);
        }

        return isKnown && least <= most ? Choose(least, most) : null;
    }

    /// <summary>Estimates the map of a posted file, using the release's part size if it fits. Null if the segments cannot hold that many bytes.</summary>
    public static SegmentMap? Estimate(int count, long length, long? ofRelease)
    {
        if (count is < 1 or > SegmentMap.MaxCount || length < count || length > (long)count * SegmentMap.MaxSegmentLength)
            return null;
        var (least, most) = count == 1 ? (length, length) : Bounds(count, length);
        // The parts differ in size, so distribute the bytes evenly until articles reveal the positions.
        if (least > most)
            return SegmentMap.FromLengths([.. Enumerable.Range(0, count).Select(i => (length / count) + (i < length % count ? 1 : 0))]);
        return SegmentMap.Uniform(count, ofRelease is { } size && size >= least && size <= most ? size : Choose(least, most), length);
    }

    // All parts have the same size, except that the last may be smaller but not empty.
    private static (long Least, long Most) Bounds(int count, long length) => ((length / count) + (length % count == 0 ? 0 : 1), Math.Min(SegmentMap.MaxSegmentLength, (length - 1) / (count - 1)));

    private static long Choose(long least, long most)
    {
        var usual = Array.Find(Usual, size => size >= least && size <= most);
        if (usual > 0)
            return usual;
        var whole = (least + Line - 1) / Line * Line;
        return whole <= most ? whole : least;
    }
}
