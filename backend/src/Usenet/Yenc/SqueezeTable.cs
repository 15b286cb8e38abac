using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;

namespace Sluice.Usenet.Yenc;

/// <summary>
/// Holds a shuffle for each combination of dropped bytes among the first fifteen of sixteen bytes. The shuffle moves the kept bytes to the front. The last byte
/// needs no index bit, because its position is last whether it is dropped or kept.
/// </summary>
/// <remarks>512 KiB, built for the first kernel without a compress instruction; about 120 entries are hot. Thread-safe.</remarks>
internal sealed class SqueezeTable
{
    private const int Width = 16;
    private const int CacheLine = 64;

    // The first entry starts a cache line, because an entry across two lines would cost two loads.
    private readonly byte[] _shuffles = GC.AllocateArray<byte>(((1 << (Width - 1)) * Width) + CacheLine, pinned: true);
    private readonly int _start;

    public SqueezeTable()
    {
        _start = (int)(-Marshal.UnsafeAddrOfPinnedArrayElement(_shuffles, 0) & (CacheLine - 1));
        for (var drop = 0; drop < 1 << (Width - 1); drop++)
        {
            var at = _start + (drop * Width);
            for (var keep = ~drop & 0xFFFF; keep != 0; keep &= keep - 1)
                _shuffles[at++] = (byte)BitOperations.TrailingZeroCount(keep);
        }
    }

    /// <summary>The shuffle that drops nothing. <see cref="Squeeze"/> indexes the table from this entry.</summary>
    public ref byte First => ref Unsafe.Add(ref MemoryMarshal.GetArrayDataReference(_shuffles), _start);

    /// <summary>Writes 64 bytes without those marked in <paramref name="drop"/> (bit i for byte i), and returns the number of bytes kept.</summary>
    /// <remarks>The destination must have room for 64 bytes. <see cref="First"/> is a parameter, so that a loop keeps it in a register.</remarks>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Squeeze(
        ref byte first, ref byte to, ulong drop, Vector128<byte> w0, Vector128<byte> w1, Vector128<byte> w2, Vector128<byte> w3)
    {
        // All four offsets come from bit counts of one mask, so no store waits for another. Shifting and masking with Entry extracts fifteen bits already
        // multiplied by the width of a table entry.
        const ulong Entry = 0x7FFF * Width;
        Vector128.ShuffleNative(w0, Vector128.LoadUnsafe(ref first, (nuint)((drop << 4) & Entry))).StoreUnsafe(ref to);
        Vector128.ShuffleNative(w1, Vector128.LoadUnsafe(ref first, (nuint)((drop >> 12) & Entry))).StoreUnsafe(ref Place(ref to, 16, drop & 0xFFFF));
        Vector128.ShuffleNative(w2, Vector128.LoadUnsafe(ref first, (nuint)((drop >> 28) & Entry))).StoreUnsafe(ref Place(ref to, 32, (uint)drop));
        Vector128.ShuffleNative(w3, Vector128.LoadUnsafe(ref first, (nuint)((drop >> 44) & Entry))).StoreUnsafe(ref Place(ref to, 48, drop << 16));
        return 64 - BitOperations.PopCount(drop);
    }

    /// <summary>Returns the destination of the byte at an offset: earlier by the number of bytes dropped before that byte.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ref byte Place(ref byte to, nint at, ulong droppedBefore) =>
        ref Unsafe.Subtract(ref Unsafe.Add(ref to, at), (nuint)(uint)BitOperations.PopCount(droppedBefore));
}
