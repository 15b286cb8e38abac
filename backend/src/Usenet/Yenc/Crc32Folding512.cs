using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Sluice.Usenet.Yenc;

/// <summary>CRC-32 by carry-less multiplication, four vectors of 64 bytes side by side. The method is that of <see cref="Crc32Folding128"/>.</summary>
internal static class Crc32Folding512
{
    /// <summary>Bytes below which the narrow form is as good.</summary>
    public const int MinLength = 256;

    /// <summary>x^(2048+32) mod P.</summary>
    internal const ulong Low2048 = 0x11542778a;

    /// <summary>x^(2048−32) mod P.</summary>
    internal const ulong High2048 = 0x1322d1430;

    /// <summary>Advances the register, which is the inverted checksum, over data of at least <see cref="MinLength"/> bytes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveOptimization | MethodImplOptions.NoInlining)]
    public static uint Update(uint register, ReadOnlySpan<byte> data)
    {
        ref var start = ref MemoryMarshal.GetReference(data);
        var by2048 = Vector512.Create(Vector256.Create(Vector128.Create(Low2048, High2048)));
        var a0 = Load(ref start, 0) ^ Vector512.CreateScalar(register).AsUInt64();
        var a1 = Load(ref start, 64);
        var a2 = Load(ref start, 128);
        var a3 = Load(ref start, 192);
        nuint at = 256;
        for (var end = (nuint)data.Length; at + 256 <= end; at += 256)
        {
            a0 = Fold(a0, by2048) ^ Load(ref start, at);
            a1 = Fold(a1, by2048) ^ Load(ref start, at + 64);
            a2 = Fold(a2, by2048) ^ Load(ref start, at + 128);
            a3 = Fold(a3, by2048) ^ Load(ref start, at + 192);
        }

        var by512 = Vector512.Create(Vector256.Create(Vector128.Create(Crc32Folding128.Low512, Crc32Folding128.High512)));
        a1 ^= Fold(a0, by512);
        a2 ^= Fold(a1, by512);
        a3 ^= Fold(a2, by512);

        var by128 = Vector128.Create(Crc32Folding128.Low128, Crc32Folding128.High128);
        var folded = a3.GetLower().GetLower();
        folded = Crc32Folding128.Fold(folded, by128) ^ a3.GetLower().GetUpper();
        folded = Crc32Folding128.Fold(folded, by128) ^ a3.GetUpper().GetLower();
        folded = Crc32Folding128.Fold(folded, by128) ^ a3.GetUpper().GetUpper();
        return Crc32Folding128.Finish(folded, data[(int)at..]);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector512<ulong> Fold(Vector512<ulong> vector, Vector512<ulong> powers) =>
        Pclmulqdq.V512.CarrylessMultiply(vector, powers, 0x00) ^ Pclmulqdq.V512.CarrylessMultiply(vector, powers, 0x11);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector512<ulong> Load(ref byte start, nuint offset) => Vector512.LoadUnsafe(ref start, offset).AsUInt64();
}
