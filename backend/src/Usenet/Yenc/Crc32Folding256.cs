using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Sluice.Usenet.Yenc;

/// <summary>
/// CRC-32 by carry-less multiplication, four vectors of 32 bytes side by side: for CPUs that multiply in wide registers
/// and have no AVX-512. The method is that of <see cref="Crc32Folding128"/>.
/// </summary>
internal static class Crc32Folding256
{
    /// <summary>Bytes below which the narrow form is as good.</summary>
    public const int MinLength = 128;

    /// <summary>x^(1024+32) mod P.</summary>
    internal const ulong Low1024 = 0x1e88ef372;

    /// <summary>x^(1024−32) mod P.</summary>
    internal const ulong High1024 = 0x14a7fe880;

    /// <summary>x^(256+32) mod P.</summary>
    internal const ulong Low256 = 0x0f1da05aa;

    /// <summary>x^(256−32) mod P.</summary>
    internal const ulong High256 = 0x15a546366;

    /// <summary>Advances the register, which is the inverted checksum, over data of at least <see cref="MinLength"/> bytes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveOptimization | MethodImplOptions.NoInlining)]
    public static uint Update(uint register, ReadOnlySpan<byte> data)
    {
        ref var start = ref MemoryMarshal.GetReference(data);
        var by1024 = Vector256.Create(Vector128.Create(Low1024, High1024));
        var a0 = Load(ref start, 0) ^ Vector256.CreateScalar(register).AsUInt64();
        var a1 = Load(ref start, 32);
        var a2 = Load(ref start, 64);
        var a3 = Load(ref start, 96);
        nuint at = 128;
        for (var end = (nuint)data.Length; at + 128 <= end; at += 128)
        {
            a0 = Fold(a0, by1024) ^ Load(ref start, at);
            a1 = Fold(a1, by1024) ^ Load(ref start, at + 32);
            a2 = Fold(a2, by1024) ^ Load(ref start, at + 64);
            a3 = Fold(a3, by1024) ^ Load(ref start, at + 96);
        }

        var by256 = Vector256.Create(Vector128.Create(Low256, High256));
        a1 ^= Fold(a0, by256);
        a2 ^= Fold(a1, by256);
        a3 ^= Fold(a2, by256);

        var by128 = Vector128.Create(Crc32Folding128.Low128, Crc32Folding128.High128);
        return Crc32Folding128.Finish(Crc32Folding128.Fold(a3.GetLower(), by128) ^ a3.GetUpper(), data[(int)at..]);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector256<ulong> Fold(Vector256<ulong> vector, Vector256<ulong> powers) =>
        Pclmulqdq.V256.CarrylessMultiply(vector, powers, 0x00) ^ Pclmulqdq.V256.CarrylessMultiply(vector, powers, 0x11);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector256<ulong> Load(ref byte start, nuint offset) => Vector256.LoadUnsafe(ref start, offset).AsUInt64();
}
