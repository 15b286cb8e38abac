using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;
using ArmAes = System.Runtime.Intrinsics.Arm.Aes;
using ArmCrc32 = System.Runtime.Intrinsics.Arm.Crc32;

namespace Sluice.Usenet.Yenc;

/// <summary>CRC-32 as in yEnc, zip and PAR2 (ISO 3309, reflected polynomial 0xEDB88320), computed in pieces and combined.</summary>
/// <remarks>Thread-safe; allocates nothing; uses the fastest algorithm that the CPU supports.</remarks>
public static class Crc32Kernel
{
    /// <summary>The polynomial P with its lowest power in the highest bit.</summary>
    internal const uint Polynomial = 0xEDB88320;

    /// <summary>Name of the algorithm for long data, for logs.</summary>
    public static string Name => Pclmulqdq.V512.IsSupported ? "PCLMULQDQ in 512 bits"
        : Pclmulqdq.V256.IsSupported ? "PCLMULQDQ in 256 bits"
        : Pclmulqdq.IsSupported ? "PCLMULQDQ in 128 bits"
        : ArmAes.IsSupported ? "PMULL"
        : ArmCrc32.Arm64.IsSupported ? "CRC32 instructions"
        : "tables";

    /// <summary>Returns the checksum of earlier bytes, whose checksum is <paramref name="crc"/> (0 for none), followed by <paramref name="data"/>.</summary>
    public static uint Append(uint crc, ReadOnlySpan<byte> data)
    {
        if (Pclmulqdq.V512.IsSupported && data.Length >= Crc32Folding512.MinLength)
            return ~Crc32Folding.Update<Crc32Folding512, Vector512<ulong>>(~crc, data);
        if (Pclmulqdq.V256.IsSupported && data.Length >= Crc32Folding256.MinLength)
            return ~Crc32Folding.Update<Crc32Folding256, Vector256<ulong>>(~crc, data);
        if (CarrylessProduct.IsSupported && data.Length >= Crc32Folding128.MinLength)
            return ~Crc32Folding.Update<Crc32Folding128, Vector128<ulong>>(~crc, data);
        return ~Crc32Short.Update(~crc, data);
    }

    /// <summary>Returns the checksum of A followed by B: crc(A)·x^(8|B|) xor crc(B), modulo P. The length is in bytes, at least 0.</summary>
    public static uint Combine(uint first, uint second, long secondLength)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(secondLength);

        return Crc32Powers.Multiply(first, Crc32Powers.OfBytes(secondLength)) ^ second;
    }
}

/// <summary>Polynomial arithmetic modulo P. Each polynomial has 32 bits, with its lowest power in the highest bit. Thread-safe.</summary>
internal static class Crc32Powers
{
    /// <summary>The quotient x^64 / P, bit-reflected, for Barrett reduction.</summary>
    internal const ulong Quotient = 0x1F7011641;

    /// <summary>P including its highest power, bit-reflected.</summary>
    internal const ulong Modulus = 0x1DB710641;

    private const uint One = 0x8000_0000;

    private const int Digits = 256;

    // Powers[256 * k + d] is x^(d·256^k), so any 32-bit exponent is the product of four of these.
    private static readonly uint[] Powers = BuildPowers();

    /// <summary>Returns x^(8·length) modulo P; the length is not negative.</summary>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    public static uint OfBytes(long length)
    {
        // The multiplicative order of x is 2^32 − 1, so an exponent equals the sum of its 32-bit halves. Adding the halves twice is enough, because 8·length
        // has at most 66 bits.
        var exponent = (ulong)length;
        exponent = (exponent & uint.MaxValue) + (exponent >> 32);
        exponent <<= 3;
        exponent = (exponent & uint.MaxValue) + (exponent >> 32);
        exponent = (exponent & uint.MaxValue) + (exponent >> 32);
        return Multiply(
            Multiply(Powers[(byte)exponent], Powers[Digits + (byte)(exponent >> 8)]),
            Multiply(Powers[(2 * Digits) + (byte)(exponent >> 16)], Powers[(3 * Digits) + (byte)(exponent >> 24)]));
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static uint Multiply(uint a, uint b) => CarrylessProduct.IsSupported ? MultiplyCarryless(a, b) : MultiplyBits(a, b);

    /// <summary>Multiplies in one instruction, then applies Barrett reduction modulo P.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static uint MultiplyCarryless(uint a, uint b)
    {
        // The product of two reflected numbers is one bit too low, so one factor is doubled.
        var product = CarrylessProduct.OfLower(Vector128.CreateScalar((ulong)a), Vector128.CreateScalar((ulong)b << 1));
        var low = Vector128.CreateScalar((ulong)uint.MaxValue);
        var above = CarrylessProduct.OfLower(product & low, Vector128.CreateScalar(Quotient));
        return (product ^ CarrylessProduct.OfLower(above & low, Vector128.CreateScalar(Modulus))).AsUInt32().GetElement(1);
    }

    internal static uint MultiplyBits(uint a, uint b)
    {
        var product = 0u;
        for (; a != 0; a <<= 1)
        {
            if ((a & One) != 0)
                product ^= b;
            b = (b >> 1) ^ ((b & 1) != 0 ? Crc32Kernel.Polynomial : 0);
        }

        return product;
    }

    private static uint[] BuildPowers()
    {
        var powers = new uint[4 * Digits];
        var step = One >> 1;
        for (var start = 0; start < powers.Length; start += Digits)
        {
            powers[start] = One;
            for (var digit = 1; digit < Digits; digit++)
                powers[start + digit] = MultiplyBits(powers[start + digit - 1], step);
            step = MultiplyBits(powers[start + Digits - 1], step);
        }

        return powers;
    }
}
