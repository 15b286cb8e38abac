using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.Arm;
using System.Runtime.Intrinsics.X86;

namespace Sluice.Usenet.Yenc;

/// <summary>Decodes four vectors of 16 bytes at a time on any CPU with byte shuffles: x86 since SSSE3, and 64-bit Arm (results tested, speed not).</summary>
/// <remarks>The loop matches the one in <see cref="YencAvx2"/> at half the width.</remarks>
internal readonly struct YencVector128(SqueezeTable squeeze) : IYencVectors
{
    private const int Block = YencBlockMasks.Length;

    public static bool IsSupported => Ssse3.IsSupported || AdvSimd.Arm64.IsSupported;

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
        var members = Vector128.Create(
            0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, (byte)'\n', 0xFF, 0xFF, (byte)'\r', (byte)'=', 0xFF);
        var slot = Vector128.Create((byte)14);
        var equal = Vector128.Create((byte)'=');
        var lineFeed = Vector128.Create((byte)'\n');
        for (; i <= lastSource && o <= lastRoom; i += Block)
        {
            ref var block = ref Unsafe.Add(ref from, i);
            var special = Examine(ref block, members, slot, equal, lineFeed, out var drop0, out var w0)
                | Examine(ref Unsafe.Add(ref block, 16), members, slot, equal, lineFeed, out var drop1, out var w1)
                | Examine(ref Unsafe.Add(ref block, 32), members, slot, equal, lineFeed, out var drop2, out var w2)
                | Examine(ref Unsafe.Add(ref block, 48), members, slot, equal, lineFeed, out var drop3, out var w3);
            if (special != Vector128<byte>.Zero)
                break;

            o += SqueezeTable.Squeeze(ref shuffles, ref Unsafe.Add(ref to, o), drop0 | (drop1 << 16) | (drop2 << 32) | (drop3 << 48), w0, w1, w2, w3);
        }

        consumed = (int)i;
        written = (int)o;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public YencBlockMasks Find(ref byte block) => new()
    {
        Equal = Find(ref block, (byte)'='),
        Cr = Find(ref block, (byte)'\r'),
        Lf = Find(ref block, (byte)'\n'),
        Dot = Find(ref block, (byte)'.'),
        Y = Find(ref block, (byte)'y'),
    };

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int Write(ref byte from, ref byte to, ulong keep, ulong escaped) => SqueezeTable.Squeeze(
        ref squeeze.First,
        ref to,
        ~keep,
        Decode(ref from, (uint)escaped),
        Decode(ref Unsafe.Add(ref from, 16), (uint)(escaped >> 16)),
        Decode(ref Unsafe.Add(ref from, 32), (uint)(escaped >> 32)),
        Decode(ref Unsafe.Add(ref from, 48), (uint)(escaped >> 48)));

    /// <summary>Decodes 16 bytes and finds the bytes to drop.</summary>
    /// <returns>Nonzero if two neighboring bytes must be interpreted together; see <see cref="IYencVectors.RunFast"/>.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector128<byte> Examine(
        ref byte from,
        Vector128<byte> members,
        Vector128<byte> slot,
        Vector128<byte> equal,
        Vector128<byte> lineFeed,
        out ulong dropMask,
        out Vector128<byte> decoded)
    {
        var v = Vector128.LoadUnsafe(ref from);
        var q = Vector128.LoadUnsafe(ref Unsafe.Subtract(ref from, 1));
        var drop = Vector128.Equals(v, Vector128.ShuffleNative(members, Vector128.Min(v, slot)));
        dropMask = drop.ExtractMostSignificantBits();
        var afterEqual = Vector128.Equals(q, equal);
        decoded = v - Vector128.Create((byte)42) - (afterEqual & Vector128.Create((byte)64));
        return (afterEqual & (drop | Vector128.Equals(v, Vector128.Create((byte)'y'))))
            | (Vector128.Equals(q, lineFeed) & Vector128.Equals(v, Vector128.Create((byte)'.')));
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Find(ref byte block, byte value)
    {
        var wanted = Vector128.Create(value);
        return Vector128.Equals(Vector128.LoadUnsafe(ref block), wanted).ExtractMostSignificantBits()
            | ((ulong)Vector128.Equals(Vector128.LoadUnsafe(ref block, 16), wanted).ExtractMostSignificantBits() << 16)
            | ((ulong)Vector128.Equals(Vector128.LoadUnsafe(ref block, 32), wanted).ExtractMostSignificantBits() << 32)
            | ((ulong)Vector128.Equals(Vector128.LoadUnsafe(ref block, 48), wanted).ExtractMostSignificantBits() << 48);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector128<byte> Decode(ref byte from, uint escaped) =>
        Vector128.LoadUnsafe(ref from) - Vector128.Create((byte)42) - (Expand(escaped) & Vector128.Create((byte)64));

    /// <summary>Spreads bit i to byte i.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector128<byte> Expand(uint mask)
    {
        var bit = Vector128.Create(0x8040201008040201).AsByte();
        var spread = Vector128.ShuffleNative(
            Vector128.Create(mask).AsByte(), Vector128.Create(0x0000000000000000ul, 0x0101010101010101).AsByte());
        return Vector128.Equals(spread & bit, bit);
    }
}
