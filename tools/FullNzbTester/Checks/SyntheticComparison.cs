using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using Sluice.Tools.MockNntpServer.Articles;

namespace Sluice.Tools.FullNzbTester.Checks;

/// <summary>
/// Compares bytes with synthetic content (contract TST-52) while computing it, 64 bytes at a time if the processor can. So the comparison
/// costs only a fraction of the measured work. Tested against <see cref="SyntheticContent"/>.
/// </summary>
internal static class SyntheticComparison
{
    private const ulong Golden = 0x9E3779B97F4A7C15;
    private const ulong FirstFactor = 0xBF58476D1CE4E5B9;
    private const ulong SecondFactor = 0x94D049BB133111EB;
    private const int Stride = 64;

    /// <returns>Index of the first difference, or −1.</returns>
    public static int FirstDifference(ulong seed, int file, long offset, ReadOnlySpan<byte> found)
    {
        var aligned = (int)((8 - (offset % 8)) % 8);
        if (Vector512.IsHardwareAccelerated && BitConverter.IsLittleEndian && found.Length >= aligned + Stride)
        {
            var whole = (found.Length - aligned) / Stride * Stride;
            var head = Slow(seed, file, offset, found[..aligned]);
            if (head >= 0)
                return head;
            if (!Equal(Mix(seed ^ Mix((ulong)file + 1)), (ulong)(offset + aligned) / 8, found.Slice(aligned, whole)))
                return Slow(seed, file, offset, found);
            var tail = Slow(seed, file, offset + aligned + whole, found[(aligned + whole)..]);
            return tail < 0 ? -1 : aligned + whole + tail;
        }

        return Slow(seed, file, offset, found);
    }

    private static bool Equal(ulong start, ulong word, ReadOnlySpan<byte> found)
    {
        var lanes = Vector512.Create(1UL, 2, 3, 4, 5, 6, 7, 8);
        var state = Vector512.Create(start) + ((Vector512.Create(word) + lanes) * Golden);
        var step = Vector512.Create(unchecked(8 * Golden));
        var wrong = Vector512<ulong>.Zero;
        foreach (var block in MemoryMarshal.Cast<byte, Vector512<ulong>>(found))
        {
            var z = (state ^ (state >>> 30)) * FirstFactor;
            z = (z ^ (z >>> 27)) * SecondFactor;
            wrong |= (z ^ (z >>> 31)) ^ block;
            state += step;
        }

        return wrong == Vector512<ulong>.Zero;
    }

    private static int Slow(ulong seed, int file, long offset, ReadOnlySpan<byte> found)
    {
        const int Piece = 4096;
        Span<byte> expected = stackalloc byte[Piece];
        for (var at = 0; at < found.Length; at += Piece)
        {
            var part = found.Slice(at, Math.Min(Piece, found.Length - at));
            SyntheticContent.Fill(seed, file, offset + at, expected[..part.Length]);
            var same = part.CommonPrefixLength(expected[..part.Length]);
            if (same < part.Length)
                return at + same;
        }

        return -1;
    }

    private static ulong Mix(ulong z)
    {
        z = (z ^ (z >> 30)) * FirstFactor;
        z = (z ^ (z >> 27)) * SecondFactor;
        return z ^ (z >> 31);
    }
}
