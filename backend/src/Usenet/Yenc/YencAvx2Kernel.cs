using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Sluice.Usenet.Yenc;

/// <summary>Two vectors of 32 bytes at a time with AVX2, squeezed by a table in halves.</summary>
/// <remarks>
/// Nothing in the loop depends on the data but the way out of it: a branch on "nothing to drop" would win only as long as
/// one article is repeated.
/// </remarks>
internal sealed class YencAvx2Kernel(SqueezeTable squeeze) : YencBlockKernel
{
    /// <summary>True when the CPU has what this kernel needs.</summary>
    public static bool IsSupported => Avx2.IsSupported;

    /// <inheritdoc/>
    public override string Name => "AVX2";

    // There is no call in here: a calling convention without preserved vector registers would reload every constant.
    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    protected override void RunFast(ReadOnlySpan<byte> source, Span<byte> destination, ref int consumed, ref int written)
    {
        ref var from = ref MemoryMarshal.GetReference(source);
        ref var to = ref MemoryMarshal.GetReference(destination);
        ref var shuffles = ref squeeze.First;
        nint i = consumed;
        nint o = written;
        var lastSource = source.Length - Block;
        var lastRoom = destination.Length - Block;
        for (; i <= lastSource && o <= lastRoom; i += Block)
        {
            ref var block = ref Unsafe.Add(ref from, i);
            var special = Examine(ref block, out var drop0, out var w0) | Examine(ref Unsafe.Add(ref block, 32), out var drop1, out var w1);
            if (special != Vector256<byte>.Zero)
                break;

            var drop = drop0.ExtractMostSignificantBits() | ((ulong)drop1.ExtractMostSignificantBits() << 32);
            o += SqueezeTable.Squeeze(
                ref shuffles, ref Unsafe.Add(ref to, o), drop, w0.GetLower(), w0.GetUpper(), w1.GetLower(), w1.GetUpper());
        }

        consumed = (int)i;
        written = (int)o;
    }

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    protected override YencBlockMasks Find(ref byte block)
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

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    protected override int Write(ref byte from, ref byte to, ulong keep, ulong escaped)
    {
        var w0 = Vector256.LoadUnsafe(ref from) - Vector256.Create((byte)42) - (Expand((uint)escaped) & Vector256.Create((byte)64));
        var w1 = Vector256.LoadUnsafe(ref from, 32) - Vector256.Create((byte)42) - (Expand((uint)(escaped >> 32)) & Vector256.Create((byte)64));
        return SqueezeTable.Squeeze(ref squeeze.First, ref to, ~keep, w0.GetLower(), w0.GetUpper(), w1.GetLower(), w1.GetUpper());
    }

    /// <summary>Decodes 32 bytes in place, and tells which to drop.</summary>
    /// <returns>Not zero where two bytes have to be judged together: see <see cref="YencBlockKernel.RunFast"/>.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector256<byte> Examine(ref byte from, out Vector256<byte> drop, out Vector256<byte> decoded)
    {
        // LF, CR and '=' by one lookup: what is above CR shares the slot of '=', and in the other slots lies nothing that
        // could come there.
        var members = Vector256.Create(Vector128.Create(
            0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, (byte)'\n', 0xFF, 0xFF, (byte)'\r', (byte)'=', 0xFF));
        var v = Vector256.LoadUnsafe(ref from);
        var q = Vector256.LoadUnsafe(ref Unsafe.Subtract(ref from, 1));
        drop = Vector256.Equals(v, Avx2.Shuffle(members, Vector256.Min(v, Vector256.Create((byte)14))));
        var afterEqual = Vector256.Equals(q, Vector256.Create((byte)'='));
        decoded = v - Vector256.Create((byte)42) - (afterEqual & Vector256.Create((byte)64));
        return (afterEqual & (drop | Vector256.Equals(v, Vector256.Create((byte)'y'))))
            | (Vector256.Equals(q, Vector256.Create((byte)'\n')) & Vector256.Equals(v, Vector256.Create((byte)'.')));
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Find(Vector256<byte> v0, Vector256<byte> v1, byte value) =>
        Vector256.Equals(v0, Vector256.Create(value)).ExtractMostSignificantBits()
        | ((ulong)Vector256.Equals(v1, Vector256.Create(value)).ExtractMostSignificantBits() << 32);

    /// <summary>Bit i to byte i: each byte looks at the byte of the mask that holds its bit, and at that bit in it.</summary>
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
