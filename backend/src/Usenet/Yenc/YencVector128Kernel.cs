using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.Arm;
using System.Runtime.Intrinsics.X86;

namespace Sluice.Usenet.Yenc;

/// <summary>Four vectors of 16 bytes at a time, on any CPU that can shuffle bytes: x86 since SSSE3, and Arm.</summary>
internal sealed class YencVector128Kernel : YencBlockKernel
{
    // For each set of dropped bytes among the first fifteen, the shuffle that moves the others to the front. The last byte
    // needs no bit: dropped or kept, it comes after all of them. Built when the kernel is made; about 120 entries are hot.
    private readonly byte[] _shuffles = BuildShuffles();

    /// <summary>True when the CPU has what this kernel needs.</summary>
    public static bool IsSupported => Ssse3.IsSupported || AdvSimd.Arm64.IsSupported;

    /// <inheritdoc/>
    public override string Name => "Vector128";

    // Nothing in the loop depends on the data but the way out of it: a branch on "nothing to drop" would win only as long
    // as one article is repeated.
    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    protected override void RunFast(ReadOnlySpan<byte> source, Span<byte> destination, ref int consumed, ref int written)
    {
        ref var from = ref MemoryMarshal.GetReference(source);
        ref var to = ref MemoryMarshal.GetReference(destination);
        ref var shuffles = ref MemoryMarshal.GetArrayDataReference(_shuffles);
        nint i = consumed;
        nint o = written;
        for (; i <= source.Length - Block && o <= destination.Length - Block; i += Block)
        {
            ref var block = ref Unsafe.Add(ref from, i);
            var special = Examine(ref block, out var drop0, out var w0)
                | Examine(ref Unsafe.Add(ref block, 16), out var drop1, out var w1)
                | Examine(ref Unsafe.Add(ref block, 32), out var drop2, out var w2)
                | Examine(ref Unsafe.Add(ref block, 48), out var drop3, out var w3);
            if (special != Vector128<byte>.Zero)
                break;

            // The four places come from counts of one mask, so no store waits for another.
            var drop = drop0 | (drop1 << 16) | ((ulong)drop2 << 32) | ((ulong)drop3 << 48);
            ref var room = ref Unsafe.Add(ref to, o);
            Squeeze(ref shuffles, w0, drop0).StoreUnsafe(ref room);
            Squeeze(ref shuffles, w1, drop1).StoreUnsafe(ref room, (nuint)(16 - BitOperations.PopCount(drop & 0xFFFF)));
            Squeeze(ref shuffles, w2, drop2).StoreUnsafe(ref room, (nuint)(32 - BitOperations.PopCount(drop & 0xFFFF_FFFF)));
            Squeeze(ref shuffles, w3, drop3).StoreUnsafe(ref room, (nuint)(48 - BitOperations.PopCount(drop & 0xFFFF_FFFF_FFFF)));
            o += Block - BitOperations.PopCount(drop);
        }

        consumed = (int)i;
        written = (int)o;
    }

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    protected override bool TryRunBlock(ref byte from, ref byte to, ref YencState state, out int kept)
    {
        kept = 0;
        var masks = new YencBlockMasks
        {
            Equal = Find(ref from, (byte)'='),
            Cr = Find(ref from, (byte)'\r'),
            Lf = Find(ref from, (byte)'\n'),
            Dot = Find(ref from, (byte)'.'),
        };
        if (!masks.TryResolve(ref from, ref state, out var keep, out var escaped))
            return false;

        for (var at = 0; at < Block; at += 16)
        {
            var v = Vector128.LoadUnsafe(ref from, (nuint)at);
            var w = v - Vector128.Create((byte)42) - (Expand((uint)(escaped >> at) & 0xFFFF) & Vector128.Create((byte)64));
            var drop = (uint)(~keep >> at) & 0xFFFF;
            Squeeze(ref MemoryMarshal.GetArrayDataReference(_shuffles), w, drop).StoreUnsafe(ref to, (nuint)kept);
            kept += 16 - BitOperations.PopCount(drop);
        }

        return true;
    }

    /// <summary>Decodes 16 bytes in place, and tells which to drop.</summary>
    /// <returns>Not zero where a special byte follows <c>=</c> or LF.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector128<byte> Examine(ref byte from, out uint dropMask, out Vector128<byte> decoded)
    {
        var v = Vector128.LoadUnsafe(ref from);
        var q = Vector128.LoadUnsafe(ref Unsafe.Subtract(ref from, 1));
        var afterEqual = Vector128.Equals(q, Vector128.Create((byte)'='));
        var afterLineFeed = Vector128.Equals(q, Vector128.Create((byte)'\n'));
        var drop = Vector128.Equals(v, Vector128.Create((byte)'='))
            | Vector128.Equals(v, Vector128.Create((byte)'\r'))
            | Vector128.Equals(v, Vector128.Create((byte)'\n'));
        dropMask = drop.ExtractMostSignificantBits();
        decoded = v - Vector128.Create((byte)42) - (afterEqual & Vector128.Create((byte)64));
        return (afterEqual | afterLineFeed) & (drop | Vector128.Equals(v, Vector128.Create((byte)'.')));
    }

    /// <summary>Moves the bytes that are not dropped to the front.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector128<byte> Squeeze(ref byte shuffles, Vector128<byte> bytes, uint drop) =>
        Vector128.ShuffleNative(bytes, Vector128.LoadUnsafe(ref shuffles, (nuint)(drop & 0x7FFF) * 16));

    private static ulong Find(ref byte block, byte value)
    {
        var wanted = Vector128.Create(value);
        var mask = 0ul;
        for (var at = 0; at < Block; at += 16)
            mask |= (ulong)Vector128.Equals(Vector128.LoadUnsafe(ref block, (nuint)at), wanted).ExtractMostSignificantBits() << at;
        return mask;
    }

    /// <summary>Bit i to byte i.</summary>
    private static Vector128<byte> Expand(uint mask)
    {
        var bit = Vector128.Create(0x8040201008040201).AsByte();
        var spread = Vector128.Create(Vector64.Create((byte)mask), Vector64.Create((byte)(mask >> 8)));
        return Vector128.Equals(spread & bit, bit);
    }

    private static byte[] BuildShuffles()
    {
        var shuffles = GC.AllocateArray<byte>((1 << 15) * 16, pinned: true);
        for (var drop = 0; drop < 1 << 15; drop++)
        {
            var at = drop * 16;
            for (var i = 0; i < 16; i++)
            {
                if ((drop >> i & 1) == 0)
                    shuffles[at++] = (byte)i;
            }
        }

        return shuffles;
    }
}
