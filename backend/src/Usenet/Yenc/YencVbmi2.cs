using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Sluice.Usenet.Yenc;

/// <summary>Decodes 64 bytes at a time with AVX-512 VBMI2, which removes the dropped bytes within a register.</summary>
internal readonly struct YencVbmi2 : IYencVectors
{
    private const int Block = YencBlockMasks.Length;

    public static bool IsSupported => Avx512Vbmi2.IsSupported && Popcnt.X64.IsSupported;

    // Tests two blocks at once while both are plain. The tables are literals here, because a property would be a call, and a method with a call keeps its
    // counters on the stack.
    [MethodImpl(MethodImplOptions.AggressiveOptimization | MethodImplOptions.NoInlining)]
    public void RunFast(ReadOnlySpan<byte> source, Span<byte> destination, ref int consumed, ref int written)
    {
        ref var from = ref MemoryMarshal.GetReference(source);
        ref var to = ref MemoryMarshal.GetReference(destination);
        nint i = consumed;
        nint o = written;

        // A table tests whether a byte is in a set, with one permute on the byte's low six bits. It holds each member at the member's own index, and at every
        // other index a byte that belongs elsewhere. So a byte equals its entry exactly if it is a member. The members here are LF, CR and '=', ...
        var dropped = Vector512.Create(
            0x0607040502030001, 0x0E0F0D0D0A0A0809, 0x1617141512131011, 0x1E1F1C1D1A1B1819,
            0x2627242522232021, 0x2E2F2C2D2A2B2829, 0x3637343532333031, 0x3E3F3D3D3A3B3839).AsByte();

        // ... and here also 'y', at the index of '9'. The fast loop handles none of these bytes after an '='.
        var special = Vector512.Create(
            0x0607040502030001, 0x0E0F0D0D0A0A0809, 0x1617141512131011, 0x1E1F1C1D1A1B1819,
            0x2627242522232021, 0x2E2F2C2D2A2B2829, 0x3637343532333031, 0x3E3F3D3D3A3B7939).AsByte();
        var equal = Vector512.Create((byte)'=');
        var lineFeed = Vector512.Create((byte)'\n');
        var dot = Vector512.Create((byte)'.');
        var plain = Vector512.Create((byte)42);
        var escaped = Vector512.Create((byte)(42 + 64));

        nint lastSource = source.Length - (2 * Block);
        nint lastRoom = destination.Length - (2 * Block);
        for (; i <= lastSource && o <= lastRoom; i += 2 * Block)
        {
            var v0 = Vector512.LoadUnsafe(ref from, (nuint)i);
            var v1 = Vector512.LoadUnsafe(ref from, (nuint)i + Block);
            var q0 = Vector512.LoadUnsafe(ref from, (nuint)i - 1);
            var q1 = Vector512.LoadUnsafe(ref from, (nuint)i + Block - 1);

            // Contains a zero if two neighboring bytes must be interpreted together.
            var t0 = Vector512.Min((v0 ^ Avx512Vbmi.PermuteVar64x8(special, v0)) | (q0 ^ equal), (v0 ^ dot) | (q0 ^ lineFeed));
            var t1 = Vector512.Min((v1 ^ Avx512Vbmi.PermuteVar64x8(special, v1)) | (q1 ^ equal), (v1 ^ dot) | (q1 ^ lineFeed));
            if (Vector512.EqualsAny(Vector512.Min(t0, t1), Vector512<byte>.Zero))
                break;

            var keep0 = ~Vector512.Equals(v0, Avx512Vbmi.PermuteVar64x8(dropped, v0));
            var keep1 = ~Vector512.Equals(v1, Avx512Vbmi.PermuteVar64x8(dropped, v1));
            var w0 = v0 - Vector512.ConditionalSelect(Vector512.Equals(q0, equal), escaped, plain);
            var w1 = v1 - Vector512.ConditionalSelect(Vector512.Equals(q1, equal), escaped, plain);
            Avx512Vbmi2.Compress(Vector512<byte>.Zero, keep0, w0).StoreUnsafe(ref to, (nuint)o);
            o += (nint)Popcnt.X64.PopCount(keep0.ExtractMostSignificantBits());
            Avx512Vbmi2.Compress(Vector512<byte>.Zero, keep1, w1).StoreUnsafe(ref to, (nuint)o);
            o += (nint)Popcnt.X64.PopCount(keep1.ExtractMostSignificantBits());
        }

        lastSource += Block;
        lastRoom += Block;
        for (; i <= lastSource && o <= lastRoom; i += Block)
        {
            var v = Vector512.LoadUnsafe(ref from, (nuint)i);
            var q = Vector512.LoadUnsafe(ref from, (nuint)i - 1);
            var t = Vector512.Min((v ^ Avx512Vbmi.PermuteVar64x8(special, v)) | (q ^ equal), (v ^ dot) | (q ^ lineFeed));
            if (Vector512.EqualsAny(t, Vector512<byte>.Zero))
                break;

            var keep = ~Vector512.Equals(v, Avx512Vbmi.PermuteVar64x8(dropped, v));
            var w = v - Vector512.ConditionalSelect(Vector512.Equals(q, equal), escaped, plain);
            Avx512Vbmi2.Compress(Vector512<byte>.Zero, keep, w).StoreUnsafe(ref to, (nuint)o);
            o += (nint)Popcnt.X64.PopCount(keep.ExtractMostSignificantBits());
        }

        consumed = (int)i;
        written = (int)o;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public YencBlockMasks Find(ref byte block)
    {
        var v = Vector512.LoadUnsafe(ref block);
        return new YencBlockMasks
        {
            Equal = Vector512.Equals(v, Vector512.Create((byte)'=')).ExtractMostSignificantBits(),
            Cr = Vector512.Equals(v, Vector512.Create((byte)'\r')).ExtractMostSignificantBits(),
            Lf = Vector512.Equals(v, Vector512.Create((byte)'\n')).ExtractMostSignificantBits(),
            Dot = Vector512.Equals(v, Vector512.Create((byte)'.')).ExtractMostSignificantBits(),
            Y = Vector512.Equals(v, Vector512.Create((byte)'y')).ExtractMostSignificantBits(),
        };
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int Write(ref byte from, ref byte to, ulong keep, ulong escaped)
    {
        var w = Vector512.LoadUnsafe(ref from) - Vector512.Create((byte)42) - (Expand(escaped) & Vector512.Create((byte)64));
        Avx512Vbmi2.Compress(Vector512<byte>.Zero, Expand(keep), w).StoreUnsafe(ref to);
        return BitOperations.PopCount(keep);
    }

    /// <summary>Spreads bit i to byte i: each byte receives the mask byte that contains its bit, and tests that bit.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector512<byte> Expand(ulong mask)
    {
        var spread = Avx512BW.Shuffle(
            Vector512.Create(mask).AsByte(),
            Vector512.Create(
                0x0000000000000000ul, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303,
                0x0404040404040404, 0x0505050505050505, 0x0606060606060606, 0x0707070707070707).AsByte());
        var bit = Vector512.Create(0x8040201008040201).AsByte();
        return Vector512.Equals(spread & bit, bit);
    }
}
