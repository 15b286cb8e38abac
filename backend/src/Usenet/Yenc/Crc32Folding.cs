using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Sluice.Usenet.Yenc;

/// <summary>CRC-32 by carry-less multiplication, four vectors of 16 bytes side by side.</summary>
/// <remarks>
/// Folding (Gopal et al., Intel 2009): a vector that lies D bits before another is multiplied by x^(D+32) in its low half
/// and by x^(D−32) in its high half, both modulo P and bit-reflected, and joins the other by xor.
/// </remarks>
internal static class Crc32Folding128
{
    /// <summary>Bytes below which there is nothing to fold.</summary>
    public const int MinLength = 64;

    /// <summary>x^(128+32) mod P.</summary>
    internal const ulong Low128 = 0x1751997d0;

    /// <summary>x^(128−32) mod P.</summary>
    internal const ulong High128 = 0x0ccaa009e;

    /// <summary>x^(512+32) mod P.</summary>
    internal const ulong Low512 = 0x154442bd4;

    /// <summary>x^(512−32) mod P.</summary>
    internal const ulong High512 = 0x1c6e41596;

    /// <summary>Advances the register, which is the inverted checksum, over data of at least <see cref="MinLength"/> bytes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveOptimization | MethodImplOptions.NoInlining)]
    public static uint Update(uint register, ReadOnlySpan<byte> data)
    {
        ref var start = ref MemoryMarshal.GetReference(data);
        var by512 = Vector128.Create(Low512, High512);
        var a0 = Load(ref start, 0) ^ Vector128.CreateScalar(register).AsUInt64();
        var a1 = Load(ref start, 16);
        var a2 = Load(ref start, 32);
        var a3 = Load(ref start, 48);
        nuint at = 64;
        for (var end = (nuint)data.Length; at + 64 <= end; at += 64)
        {
            a0 = Fold(a0, by512) ^ Load(ref start, at);
            a1 = Fold(a1, by512) ^ Load(ref start, at + 16);
            a2 = Fold(a2, by512) ^ Load(ref start, at + 32);
            a3 = Fold(a3, by512) ^ Load(ref start, at + 48);
        }

        var by128 = Vector128.Create(Low128, High128);
        a1 ^= Fold(a0, by128);
        a2 ^= Fold(a1, by128);
        a3 ^= Fold(a2, by128);
        return Finish(a3, data[(int)at..]);
    }

    /// <summary>Takes the rest in steps of 16 bytes, then the folded vector and the last bytes by table.</summary>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    internal static uint Finish(Vector128<ulong> folded, ReadOnlySpan<byte> rest)
    {
        var by128 = Vector128.Create(Low128, High128);
        while (rest.Length >= 16)
        {
            folded = Fold(folded, by128) ^ Load(ref MemoryMarshal.GetReference(rest), 0);
            rest = rest[16..];
        }

        // The folded vector stands for all data so far: its remainder from an empty register is the register.
        Span<byte> bytes = stackalloc byte[16];
        folded.AsByte().CopyTo(bytes);
        return Crc32Slicing.Update(Crc32Slicing.Update(0, bytes), rest);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static Vector128<ulong> Fold(Vector128<ulong> vector, Vector128<ulong> powers) =>
        Pclmulqdq.CarrylessMultiply(vector, powers, 0x00) ^ Pclmulqdq.CarrylessMultiply(vector, powers, 0x11);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector128<ulong> Load(ref byte start, nuint offset) => Vector128.LoadUnsafe(ref start, offset).AsUInt64();
}

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
