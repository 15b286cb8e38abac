using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;

namespace Sluice.Usenet.Yenc;

/// <summary>
/// For each set of dropped bytes among the first fifteen of sixteen, the shuffle that moves the others to the front. The
/// last byte needs no bit: dropped or kept, it comes after all of them.
/// </summary>
/// <remarks>512 KiB, built when the first kernel without a compress instruction is made; about 120 entries are hot. Thread-safe.</remarks>
internal sealed class SqueezeTable
{
    private const int Width = 16;
    private const int CacheLine = 64;

    // An entry that lay across two cache lines would cost two loads, so the first one starts a line.
    private readonly byte[] _shuffles = GC.AllocateArray<byte>(((1 << (Width - 1)) * Width) + CacheLine, pinned: true);
    private readonly int _start;

    /// <summary>Builds the table.</summary>
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

    /// <summary>The shuffle for nothing to drop; <see cref="Squeeze"/> finds the others from it.</summary>
    public ref byte First => ref Unsafe.Add(ref MemoryMarshal.GetArrayDataReference(_shuffles), _start);

    /// <summary>Writes 64 bytes without those that are dropped: sixteen bytes at each of four places.</summary>
    /// <param name="first"><see cref="First"/>, which a loop keeps in a register.</param>
    /// <param name="to">Room for 64 bytes.</param>
    /// <param name="drop">Bit i for byte i.</param>
    /// <param name="w0">The first sixteen bytes.</param>
    /// <param name="w1">The next ones.</param>
    /// <param name="w2">The next ones.</param>
    /// <param name="w3">The last ones.</param>
    /// <returns>Bytes that are left.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Squeeze(
        ref byte first, ref byte to, ulong drop, Vector128<byte> w0, Vector128<byte> w1, Vector128<byte> w2, Vector128<byte> w3)
    {
        // The four places come from counts of one mask, so no store waits for another. Fifteen bits of the mask times the
        // width of an entry are taken in one step.
        const ulong Entry = 0x7FFF * Width;
        Vector128.ShuffleNative(w0, Vector128.LoadUnsafe(ref first, (nuint)((drop << 4) & Entry))).StoreUnsafe(ref to);
        Vector128.ShuffleNative(w1, Vector128.LoadUnsafe(ref first, (nuint)((drop >> 12) & Entry))).StoreUnsafe(ref Place(ref to, 16, drop & 0xFFFF));
        Vector128.ShuffleNative(w2, Vector128.LoadUnsafe(ref first, (nuint)((drop >> 28) & Entry))).StoreUnsafe(ref Place(ref to, 32, (uint)drop));
        Vector128.ShuffleNative(w3, Vector128.LoadUnsafe(ref first, (nuint)((drop >> 44) & Entry))).StoreUnsafe(ref Place(ref to, 48, drop << 16));
        return 64 - BitOperations.PopCount(drop);
    }

    /// <summary>Where the byte at a place goes, with those before it dropped.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ref byte Place(ref byte to, nint at, ulong droppedBefore) =>
        ref Unsafe.Subtract(ref Unsafe.Add(ref to, at), (nuint)(uint)BitOperations.PopCount(droppedBefore));
}
