using System.Numerics;

namespace Sluice.Server.Queue.Steps;

/// <summary>Chooses the sample of a release (IMP-60). Pure.</summary>
internal static class SegmentSample
{
    /// <summary>Returns the first segment, the last, then the middle of each gap, so that every prefix of this list is an even sample.</summary>
    /// <returns>Distinct positions in the message-id list.</returns>
    public static IReadOnlyList<int> Pick(IReadOnlyList<PostedEntry> payload, int most)
    {
        List<PostedEntry> files = [.. payload.Where(file => file.Segments > 0)];
        var ends = new long[files.Count];
        var count = 0L;
        for (var i = 0; i < ends.Length; i++)
            ends[i] = count += files[i].Segments;

        var picked = new List<int>((int)Math.Min(most, count));
        var seen = new HashSet<long>();
        foreach (var segment in Order(count))
        {
            if (picked.Count == most || seen.Count == count)
                break;
            if (!seen.Add(segment))
                continue;
            var file = Array.BinarySearch(ends, segment + 1);
            file = file < 0 ? ~file : file;
            picked.Add(files[file].FirstSegment + (int)(segment - (ends[file] - files[file].Segments)));
        }

        return picked;
    }

    private static IEnumerable<long> Order(long count)
    {
        if (count == 0)
            yield break;
        yield return 0;
        yield return count - 1;
        // Bit-reversed counters are evenly distributed at every prefix.
        var bits = 64 - BitOperations.LeadingZeroCount((ulong)count);
        for (var i = 1UL; i < 1UL << bits; i++)
            yield return (long)((UInt128)Reverse(i, bits) * (ulong)count >> bits);
    }

    private static ulong Reverse(ulong value, int bits)
    {
        var reversed = 0UL;
        for (var bit = 0; bit < bits; bit++)
            reversed |= (value >> bit & 1) << (bits - 1 - bit);
        return reversed;
    }
}
