using System.Runtime.Intrinsics.X86;

namespace Sluice.Usenet.Yenc;

/// <summary>CRC-32 as yEnc, zip and PAR2 use it (ISO 3309, reflected polynomial 0xEDB88320), in pieces and joined.</summary>
/// <remarks>Thread-safe; allocates nothing; the fastest form that the CPU has is taken.</remarks>
public static class Crc32Kernel
{
    /// <summary>The polynomial P with its lowest power in the highest bit.</summary>
    internal const uint Polynomial = 0xEDB88320;

    // PowersOfTwo[k] is x to the power of 2^k, modulo P.
    private static readonly uint[] PowersOfTwo = BuildPowers();

    /// <summary>The checksum of everything before and <paramref name="data"/> after it.</summary>
    /// <param name="crc">The checksum of everything before; 0 when there is nothing.</param>
    /// <param name="data">The next bytes.</param>
    public static uint Append(uint crc, ReadOnlySpan<byte> data)
    {
        if (Pclmulqdq.V512.IsSupported && data.Length >= Crc32Folding512.MinLength)
            return ~Crc32Folding512.Update(~crc, data);
        if (Pclmulqdq.IsSupported && data.Length >= Crc32Folding128.MinLength)
            return ~Crc32Folding128.Update(~crc, data);
        return ~Crc32Slicing.Update(~crc, data);
    }

    /// <summary>The checksum of A followed by B, from those of A and of B alone: crc(A)·x^(8|B|) xor crc(B), modulo P.</summary>
    /// <param name="first">The checksum of A.</param>
    /// <param name="second">The checksum of B.</param>
    /// <param name="secondLength">The length of B in bytes; not negative.</param>
    public static uint Combine(uint first, uint second, long secondLength)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(secondLength);

        // The multiplicative order of x is 2^32 − 1, so the table repeats after 32 entries.
        var product = first;
        var bit = 3;
        for (var n = secondLength; n != 0; n >>= 1, bit++)
        {
            if ((n & 1) != 0)
                product = Multiply(product, PowersOfTwo[bit & 31]);
        }

        return product ^ second;
    }

    /// <summary>a·b modulo P, both with their lowest power in the highest bit.</summary>
    private static uint Multiply(uint a, uint b)
    {
        var product = 0u;
        for (; a != 0; a <<= 1)
        {
            if ((a & 0x8000_0000) != 0)
                product ^= b;
            b = (b >> 1) ^ ((b & 1) != 0 ? Polynomial : 0);
        }

        return product;
    }

    private static uint[] BuildPowers()
    {
        var powers = new uint[32];
        powers[0] = 0x4000_0000;
        for (var i = 1; i < powers.Length; i++)
            powers[i] = Multiply(powers[i - 1], powers[i - 1]);
        return powers;
    }
}
