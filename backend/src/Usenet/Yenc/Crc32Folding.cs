using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;
using ArmAes = System.Runtime.Intrinsics.Arm.Aes;

namespace Sluice.Usenet.Yenc;

/// <summary>CRC-32 by carry-less multiplication of four vectors in parallel, in the widest registers that the CPU can multiply.</summary>
/// <remarks>
/// Folding (Gopal et al., Intel 2009) merges a vector of 16 bytes into another one that lies D bits later. The low half of the first vector is multiplied by
/// x^(D+32) and the high half by x^(D−32), both modulo P and bit-reflected, and both products are xored into the second vector. A wider register folds two or
/// four vectors at a time.
/// </remarks>
internal static class Crc32Folding
{
    /// <summary>Updates the register (the inverted checksum) with at least four vectors of data. Struct type arguments let the JIT inline.</summary>
    [MethodImpl(MethodImplOptions.AggressiveOptimization | MethodImplOptions.NoInlining)]
    public static uint Update<TWidth, TVector>(uint register, ReadOnlySpan<byte> data)
        where TWidth : struct, IFoldingWidth<TVector>
        where TVector : struct
    {
        ref var start = ref MemoryMarshal.GetReference(data);
        var width = (nuint)Unsafe.SizeOf<TVector>();
        var by4 = TWidth.ByFour;
        var first = Load<TVector>(ref start, 0);
        Unsafe.As<TVector, uint>(ref first) ^= register;
        var a0 = first;
        var a1 = Load<TVector>(ref start, width);
        var a2 = Load<TVector>(ref start, 2 * width);
        var a3 = Load<TVector>(ref start, 3 * width);
        var at = 4 * width;
        for (var end = (nuint)data.Length; at + (4 * width) <= end; at += 4 * width)
        {
            a0 = TWidth.Fold(a0, by4, Load<TVector>(ref start, at));
            a1 = TWidth.Fold(a1, by4, Load<TVector>(ref start, at + width));
            a2 = TWidth.Fold(a2, by4, Load<TVector>(ref start, at + (2 * width)));
            a3 = TWidth.Fold(a3, by4, Load<TVector>(ref start, at + (3 * width)));
        }

        var by1 = TWidth.ByOne;
        a1 = TWidth.Fold(a0, by1, a1);
        a2 = TWidth.Fold(a1, by1, a2);
        a3 = TWidth.Fold(a2, by1, a3);
        return Finish(TWidth.Narrow(a3), data[(int)at..]);
    }

    /// <summary>Folds the rest in steps of 16 bytes, then processes the folded vector and the remaining bytes as short data.</summary>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    private static uint Finish(Vector128<ulong> folded, ReadOnlySpan<byte> rest)
    {
        while (rest.Length >= 16)
        {
            folded = Crc32Folding128.Fold(folded, Crc32Folding128.ByOne, Load<Vector128<ulong>>(ref MemoryMarshal.GetReference(rest), 0));
            rest = rest[16..];
        }

        // The folded vector is equivalent to all data so far, so processing it from an empty register yields the register for that data.
        Span<byte> bytes = stackalloc byte[16];
        folded.AsByte().CopyTo(bytes);
        return Crc32Short.Update(Crc32Short.Update(0, bytes), rest);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static TVector Load<TVector>(ref byte start, nuint offset) => Unsafe.ReadUnaligned<TVector>(ref Unsafe.Add(ref start, offset));
}

/// <summary>Folding in registers of a certain width.</summary>
internal interface IFoldingWidth<TVector>
    where TVector : struct
{
    /// <summary>The powers for folding across four vectors, one pair for each 16 bytes.</summary>
    static abstract TVector ByFour { get; }

    static abstract TVector ByOne { get; }

    /// <summary>Folds a vector into a later one. The powers depend on the distance between the two.</summary>
    static abstract TVector Fold(TVector vector, TVector powers, TVector other);

    /// <summary>Folds a vector into its last 16 bytes.</summary>
    static abstract Vector128<ulong> Narrow(TVector vector);
}

internal readonly struct Crc32Folding128 : IFoldingWidth<Vector128<ulong>>
{
    /// <summary>Shortest data to fold, in bytes.</summary>
    public const int MinLength = 64;

    // x^(128+32), x^(128−32), x^(512+32) and x^(512−32) mod P.
    internal const ulong Low128 = 0x1751997d0;
    internal const ulong High128 = 0x0ccaa009e;
    internal const ulong Low512 = 0x154442bd4;
    internal const ulong High512 = 0x1c6e41596;

    public static Vector128<ulong> ByFour => Vector128.Create(Low512, High512);

    public static Vector128<ulong> ByOne => Vector128.Create(Low128, High128);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector128<ulong> Fold(Vector128<ulong> vector, Vector128<ulong> powers, Vector128<ulong> other) =>
        CarrylessProduct.OfLower(vector, powers) ^ CarrylessProduct.OfUpper(vector, powers) ^ other;

    public static Vector128<ulong> Narrow(Vector128<ulong> vector) => vector;
}

/// <summary>Folds 32-byte vectors, for CPUs with 256-bit carry-less multiplication but without AVX-512.</summary>
internal readonly struct Crc32Folding256 : IFoldingWidth<Vector256<ulong>>
{
    /// <summary>Shortest data for which this width is faster, in bytes.</summary>
    public const int MinLength = 128;

    // x^(1024+32), x^(1024−32), x^(256+32) and x^(256−32) mod P.
    internal const ulong Low1024 = 0x1e88ef372;
    internal const ulong High1024 = 0x14a7fe880;
    internal const ulong Low256 = 0x0f1da05aa;
    internal const ulong High256 = 0x15a546366;

    public static Vector256<ulong> ByFour => Vector256.Create(Vector128.Create(Low1024, High1024));

    public static Vector256<ulong> ByOne => Vector256.Create(Vector128.Create(Low256, High256));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector256<ulong> Fold(Vector256<ulong> vector, Vector256<ulong> powers, Vector256<ulong> other) =>
        Pclmulqdq.V256.CarrylessMultiply(vector, powers, 0x00) ^ Pclmulqdq.V256.CarrylessMultiply(vector, powers, 0x11) ^ other;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector128<ulong> Narrow(Vector256<ulong> vector) =>
        Crc32Folding128.Fold(vector.GetLower(), Crc32Folding128.ByOne, vector.GetUpper());
}

internal readonly struct Crc32Folding512 : IFoldingWidth<Vector512<ulong>>
{
    /// <summary>Shortest data for which this width is faster, in bytes.</summary>
    public const int MinLength = 256;

    // x^(2048+32) and x^(2048−32) mod P.
    internal const ulong Low2048 = 0x11542778a;
    internal const ulong High2048 = 0x1322d1430;

    public static Vector512<ulong> ByFour => Vector512.Create(Vector128.Create(Low2048, High2048));

    public static Vector512<ulong> ByOne => Vector512.Create(Crc32Folding128.ByFour);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector512<ulong> Fold(Vector512<ulong> vector, Vector512<ulong> powers, Vector512<ulong> other) =>
        Pclmulqdq.V512.CarrylessMultiply(vector, powers, 0x00) ^ Pclmulqdq.V512.CarrylessMultiply(vector, powers, 0x11) ^ other;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector128<ulong> Narrow(Vector512<ulong> vector) =>
        Crc32Folding256.Narrow(Crc32Folding256.Fold(vector.GetLower(), Crc32Folding256.ByOne, vector.GetUpper()));
}

/// <summary>Multiplies 64-bit halves of two vectors without carries: PCLMULQDQ on x86, PMULL on Arm.</summary>
/// <remarks>The compiler resolves the architecture checks, so they cost nothing at run time.</remarks>
internal static class CarrylessProduct
{
    public static bool IsSupported => Pclmulqdq.IsSupported || ArmAes.IsSupported;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector128<ulong> OfLower(Vector128<ulong> a, Vector128<ulong> b) => X86Base.IsSupported
        ? Pclmulqdq.CarrylessMultiply(a, b, 0x00)
        : ArmAes.PolynomialMultiplyWideningLower(a.GetLower(), b.GetLower());

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector128<ulong> OfUpper(Vector128<ulong> a, Vector128<ulong> b) => X86Base.IsSupported
        ? Pclmulqdq.CarrylessMultiply(a, b, 0x11)
        : ArmAes.PolynomialMultiplyWideningUpper(a, b);
}
