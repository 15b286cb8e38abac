using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Sluice.Usenet.Yenc;

/// <summary>CRC-32 as yEnc, zip and PAR2 use it (ISO 3309, reflected polynomial 0xEDB88320), in pieces and joined.</summary>
/// <remarks>Thread-safe; allocates nothing; the fastest form that the CPU has is taken.</remarks>
public static class Crc32Kernel
{
    /// <summary>The polynomial P with its lowest power in the highest bit.</summary>
    internal const uint Polynomial = 0xEDB88320;

    /// <summary>The form that is taken for long data, for logs.</summary>
    public static string Name => Pclmulqdq.V512.IsSupported ? "PCLMULQDQ in 512 bits"
        : Pclmulqdq.V256.IsSupported ? "PCLMULQDQ in 256 bits"
        : Pclmulqdq.IsSupported ? "PCLMULQDQ in 128 bits"
        : "tables";

    /// <summary>The checksum of everything before and <paramref name="data"/> after it.</summary>
    /// <param name="crc">The checksum of everything before; 0 when there is nothing.</param>
    /// <param name="data">The next bytes.</param>
    public static uint Append(uint crc, ReadOnlySpan<byte> data)
    {
        if (Pclmulqdq.V512.IsSupported && data.Length >= Crc32Folding512.MinLength)
            return ~Crc32Folding.Update<Crc32Folding512, Vector512<ulong>>(~crc, data);
        if (Pclmulqdq.V256.IsSupported && data.Length >= Crc32Folding256.MinLength)
            return ~Crc32Folding.Update<Crc32Folding256, Vector256<ulong>>(~crc, data);
        if (Pclmulqdq.IsSupported && data.Length >= Crc32Folding128.MinLength)
            return ~Crc32Folding.Update<Crc32Folding128, Vector128<ulong>>(~crc, data);
        return ~Crc32Slicing.Update(~crc, data);
    }

    /// <summary>The checksum of A followed by B, from those of A and of B alone: crc(A)·x^(8|B|) xor crc(B), modulo P.</summary>
    /// <param name="first">The checksum of A.</param>
    /// <param name="second">The checksum of B.</param>
    /// <param name="secondLength">The length of B in bytes; not negative.</param>
    public static uint Combine(uint first, uint second, long secondLength)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(secondLength);

        return CombineBy(first, second, Crc32Powers.OfBytes(secondLength));
    }

    /// <summary>
    /// The factor that <see cref="Combine"/> computes from a length. A caller that joins many parts of one length computes it once and
    /// uses <see cref="CombineBy"/>.
    /// </summary>
    /// <param name="length">A length in bytes; not negative.</param>
    /// <returns>x^(8·length) modulo P, its lowest power in the highest bit.</returns>
    public static uint PowerFor(long length)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        return Crc32Powers.OfBytes(length);
    }

    /// <summary>The checksum of A followed by B, from those of A and of B alone.</summary>
    /// <param name="first">The checksum of A.</param>
    /// <param name="second">The checksum of B.</param>
    /// <param name="power">What <see cref="PowerFor"/> says of the length of B.</param>
    public static uint CombineBy(uint first, uint second, uint power) => Crc32Powers.Multiply(first, power) ^ second;
}

/// <summary>Arithmetic of polynomials modulo P, each in 32 bits with its lowest power in the highest bit. Thread-safe.</summary>
internal static class Crc32Powers
{
    /// <summary>The quotient of x^64 by P, reflected, as Barrett's reduction wants it.</summary>
    internal const ulong Quotient = 0x1F7011641;

    /// <summary>P itself with its highest power, reflected.</summary>
    internal const ulong Modulus = 0x1DB710641;

    private const uint One = 0x8000_0000;

    private const int Digits = 256;

    // Powers[256 * k + d] is x to the power of d·256^k: any exponent of 32 bits is the product of four of them.
    private static readonly uint[] Powers = BuildPowers();

    /// <summary>x^(8·length) modulo P.</summary>
    /// <param name="length">Not negative.</param>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    public static uint OfBytes(long length)
    {
        // The multiplicative order of x is 2^32 − 1, so an exponent is its 32-bit halves added up. Adding them twice is
        // enough: 8·length has at most 66 bits.
        var exponent = (ulong)length;
        exponent = (exponent & uint.MaxValue) + (exponent >> 32);
        exponent <<= 3;
        exponent = (exponent & uint.MaxValue) + (exponent >> 32);
        exponent = (exponent & uint.MaxValue) + (exponent >> 32);
        return Multiply(
            Multiply(Powers[(byte)exponent], Powers[Digits + (byte)(exponent >> 8)]),
            Multiply(Powers[(2 * Digits) + (byte)(exponent >> 16)], Powers[(3 * Digits) + (byte)(exponent >> 24)]));
    }

    /// <summary>a·b modulo P.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static uint Multiply(uint a, uint b) => Pclmulqdq.IsSupported ? MultiplyCarryless(a, b) : MultiplyBits(a, b);

    /// <summary>The product in one instruction, then Barrett's reduction modulo P.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static uint MultiplyCarryless(uint a, uint b)
    {
        // The product of two reflected numbers lies one bit low, which the doubled factor makes good.
        var reduction = Vector128.Create(Quotient, Modulus);
        var product = Pclmulqdq.CarrylessMultiply(Vector128.CreateScalar((ulong)a), Vector128.CreateScalar((ulong)b << 1), 0);
        var low = Vector128.CreateScalar((ulong)uint.MaxValue);
        var above = Pclmulqdq.CarrylessMultiply(product & low, reduction, 0x00);
        return (product ^ Pclmulqdq.CarrylessMultiply(above & low, reduction, 0x10)).AsUInt32().GetElement(1);
    }

    /// <summary>The product bit by bit.</summary>
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
