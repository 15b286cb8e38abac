using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Sluice.Usenet.Yenc;

/// <summary>Decodes two vectors of 32 bytes at a time with AVX2, and removes the dropped bytes of each half with a <see cref="SqueezeTable"/>.</summary>
/// <remarks>Only the loop's exit depends on the data. A branch for blocks with nothing to drop would win only in benchmarks that repeat one article.</remarks>
internal readonly struct YencAvx2(SqueezeTable squeeze) : IYencVectors
{
    private const int Block = YencBlockMasks.Length;

    public static bool IsSupported => Avx2.IsSupported;

    [MethodImpl(MethodImplOptions.AggressiveOptimization | MethodImplOptions.NoInlining)]
    public void RunFast(ReadOnlySpan<byte> source, Span<byte> destination, ref int consumed, ref int written)
    {
        ref var from = ref MemoryMarshal.GetReference(source);
        ref var to = ref MemoryMarshal.GetReference(destination);
        ref var shuffles = ref squeeze.First;
        nint i = consumed;
        nint o = written;
        nint lastSource = source.Length - Block;
        nint lastRoom = destination.Length - Block;

        // Finds LF, CR and '=' with one lookup: all bytes above CR share the slot of '='. Every unused slot holds 0xFF, which never maps to that slot. The
        // constants are local variables, so that the loop keeps them in registers.
        var members = Vector256.Create(Vector128.Create(
            0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, (byte)'\n', 0xFF, 0xFF, (byte)'\r', (byte)'=', 0xFF));
        var slot = Vector256.Create((byte)14);
        var equal = Vector256.Create((byte)'=');
        var y = Vector256.Create((byte)'y');
        var lineFeed = Vector256.Create((byte)'\n');
        var dot = Vector256.Create((byte)'.');
        var plain = Vector256.Create((byte)42);
        var escaped = Vector256.Create((byte)64);
        for (; i <= lastSource && o <= lastRoom; i += Block)
        {
            var v0 = Vector256.LoadUnsafe(ref from, (nuint)i);
            var v1 = Vector256.LoadUnsafe(ref from, (nuint)i + 32);
            var q0 = Vector256.LoadUnsafe(ref from, (nuint)i - 1);
            var q1 = Vector256.LoadUnsafe(ref from, (nuint)i + 31);
            var drop0 = Vector256.Equals(v0, Avx2.Shuffle(members, Vector256.Min(v0, slot)));
            var drop1 = Vector256.Equals(v1, Avx2.Shuffle(members, Vector256.Min(v1, slot)));
            var after0 = Vector256.Equals(q0, equal);
            var after1 = Vector256.Equals(q1, equal);

            // Nonzero if two neighboring bytes must be interpreted together.
            var special = (after0 & (drop0 | Vector256.Equals(v0, y))) | (Vector256.Equals(q0, lineFeed) & Vector256.Equals(v0, dot))
                | (after1 & (drop1 | Vector256.Equals(v1, y))) | (Vector256.Equals(q1, lineFeed) & Vector256.Equals(v1, dot));
            if (special != Vector256<byte>.Zero)
                break;

            var w0 = v0 - plain - (after0 & escaped);
            var w1 = v1 - plain - (after1 & escaped);
            o += SqueezeTable.Squeeze(
                ref shuffles,
                ref Unsafe.Add(ref to, o),
                drop0.ExtractMostSignificantBits() | ((ulong)drop1.ExtractMostSignificantBits() << 32),
                w0.GetLower(),
                w0.GetUpper(),
                w1.GetLower(),
                w1.GetUpper());
        }

        consumed = (int)i;
        written = (int)o;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public YencBlockMasks Find(ref byte block)
    {
        var v0 = Vector256.LoadUnsafe(ref block);
        var v1 = Vector256.LoadUnsafe(ref block, 32);
        return new YencBlockMasks
        {
            Equal = Find(v0, v1, (byte)'='),
            Cr = Find(v0, v1, (byte)'\r'),
            Lf = Find(v0, v1, (byte)'\n'),
            Dot = Find(v0, v1, (byte)'.'),
            Y = Find(v0, v1, (byte)'y'),
        };
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int Write(ref byte from, ref byte to, ulong keep, ulong escaped)
    {
        var w0 = Vector256.LoadUnsafe(ref from) - Vector256.Create((byte)42) - (Expand((uint)escaped) & Vector256.Create((byte)64));
        var w1 = Vector256.LoadUnsafe(ref from, 32) - Vector256.Create((byte)42) - (Expand((uint)(escaped >> 32)) & Vector256.Create((byte)64));
        return SqueezeTable.Squeeze(ref squeeze.First, ref to, ~keep, w0.GetLower(), w0.GetUpper(), w1.GetLower(), w1.GetUpper());
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Find(Vector256<byte> v0, Vector256<byte> v1, byte value) =>
        Vector256.Equals(v0, Vector256.Create(value)).ExtractMostSignificantBits()
        | ((ulong)Vector256.Equals(v1, Vector256.Create(value)).ExtractMostSignificantBits() << 32);

    /// <summary>Spreads bit i to byte i: each byte receives the mask byte that contains its bit, and tests that bit.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector256<byte> Expand(uint mask)
    {
        var bit = Vector256.Create(0x8040201008040201).AsByte();
        var spread = Avx2.Shuffle(
            Vector256.Create(mask).AsByte(),
            Vector256.Create(0x0000000000000000ul, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303).AsByte());
        return Vector256.Equals(spread & bit, bit);
    }
}
