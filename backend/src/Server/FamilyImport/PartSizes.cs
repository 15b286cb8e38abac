using Sluice.Usenet.Streams.Maps;

namespace Sluice.Server.FamilyImport;

/// <summary>
/// Estimates where the segments of a posted file begin when only their number and the length of the file are known. The first article that a
/// reader fetches says where it lies: one that contradicts the estimate has the map corrected before a byte of it leaves (IMP-32). Pure.
/// </summary>
internal static class PartSizes
{
    // A line of yEnc has 128 bytes, and posters cut at whole lines.
    private const long Line = 128;

    // What posting programs offer, the most usual ones first.
    private static readonly long[] Usual =
    [
        716_800, 768_000, 640_000, 750_000, 737_280, 1_024_000, 1_048_576, 384_000, 500_000, 512_000, 524_288, 768_768, 358_400, 256_000, 262_144, 128_000, 131_072,
    ];

    /// <summary>The part size that most likely holds for the posted files of one release; null where none fits a file, which is estimated alone then.</summary>
    /// <param name="files">Count of segments and length in bytes of each.</param>
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

    /// <summary>The map of a posted file.</summary>
    /// <param name="count">Number of its segments.</param>
    /// <param name="length">Its length in bytes.</param>
    /// <param name="ofRelease">What holds for others of its release; null for nothing.</param>
    /// <returns>Null when so many segments cannot have so many bytes.</returns>
    public static SegmentMap? Estimate(int count, long length, long? ofRelease)
    {
        if (count is < 1 or > SegmentMap.MaxCount || length < count || length > (long)count * SegmentMap.MaxSegmentLength)
            return null;
        var (least, most) = count == 1 ? (length, length) : Bounds(count, length);
        // No equal parts: as even as can be, until articles say better.
        if (least > most)
            return SegmentMap.FromLengths([.. Enumerable.Range(0, count).Select(i => (length / count) + (i < length % count ? 1 : 0))]);
        return SegmentMap.Uniform(count, ofRelease is { } size && size >= least && size <= most ? size : Choose(least, most), length);
    }

    // All parts but the last are of one size, and the last has at least one byte and no more than the others.
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
