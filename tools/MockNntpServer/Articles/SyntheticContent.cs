using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;

namespace Sluice.Tools.MockNntpServer.Articles;

/// <summary>
/// The bytes of synthetic files: byte k of file f is byte (k mod 8), little-endian, of <c>mix(s + (k/8 + 1) * 0x9E3779B97F4A7C15)</c> with
/// <c>s = mix(seed XOR mix(f + 1))</c>. <c>mix</c> is the finalizer of SplitMix64. The cost of a range does not depend on its offset.
/// </summary>
/// <remarks>Pure and thread-safe. Tests compare with these bytes.</remarks>
public static class SyntheticContent
{
    private const ulong Golden = 0x9E3779B97F4A7C15;

    /// <summary>Computes the bytes of a range.</summary>
    /// <param name="file">0-based file within the release.</param>
    /// <param name="offset">0-based offset of the range in the file.</param>
    /// <param name="destination">Filled completely, because the content has no end.</param>
    public static void Fill(ulong seed, int file, long offset, Span<byte> destination)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(file);
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        var start = Mix(seed ^ Mix((ulong)file + 1));
        var word = (ulong)offset / 8;

        var skip = (int)(offset % 8);
        if (skip != 0)
        {
            var first = Math.Min(8 - skip, destination.Length);
            FillWithin(start, word, skip, destination[..first]);
            destination = destination[first..];
            word++;
        }

        if (Vector512.IsHardwareAccelerated && BitConverter.IsLittleEndian && destination.Length >= Vector512<byte>.Count)
        {
            var blocks = MemoryMarshal.Cast<byte, Vector512<ulong>>(destination);
            FillBlocks(start, word, blocks);
            word += 8 * (ulong)blocks.Length;
            destination = destination[(blocks.Length * Vector512<byte>.Count)..];
        }

        var state = start + ((word + 1) * Golden);
        while (destination.Length >= 8)
        {
            BinaryPrimitives.WriteUInt64LittleEndian(destination, Mix(state));
            state += Golden;
            word++;
            destination = destination[8..];
        }

        FillWithin(start, word, 0, destination);
    }

    /// <summary>The finalizer of SplitMix64, which also places faults and jitter.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static ulong Mix(ulong z)
    {
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return z ^ (z >> 31);
    }

    private static void FillBlocks(ulong start, ulong word, Span<Vector512<ulong>> blocks)
    {
        var state = Vector512.Create(start) + ((Vector512.Create(word) + Vector512.Create(1UL, 2, 3, 4, 5, 6, 7, 8)) * Golden);
        var step = Vector512.Create(unchecked(8 * Golden));
        foreach (ref var block in blocks)
        {
            var z = (state ^ (state >>> 30)) * 0xBF58476D1CE4E5B9;
            z = (z ^ (z >>> 27)) * 0x94D049BB133111EB;
            block = z ^ (z >>> 31);
            state += step;
        }
    }

    private static void FillWithin(ulong start, ulong word, int skip, Span<byte> destination)
    {
        var value = Mix(start + ((word + 1) * Golden)) >> (8 * skip);
        foreach (ref var b in destination)
        {
            b = (byte)value;
            value >>= 8;
        }
    }
}
