using System.Runtime.Intrinsics.X86;

namespace Sluice.Usenet.Yenc;

/// <summary>CRC-32 as yEnc, zip and PAR2 use it (ISO 3309, reflected polynomial 0xEDB88320), in pieces and joined.</summary>
/// <remarks>Thread-safe; allocates nothing; the fastest form that the CPU has is taken.</remarks>
public static class Crc32Kernel
{
    /// <summary>The polynomial P with its lowest power in the highest bit.</summary>
    internal const uint Polynomial = 0xEDB88320;

    /// <summary>The checksum of everything before and <paramref name="data"/> after it.</summary>
    /// <param name="crc">The checksum of everything before; 0 when there is nothing.</param>
    /// <param name="data">The next bytes.</param>
    public static uint Append(uint crc, ReadOnlySpan<byte> data)
    {
        if (Pclmulqdq.V512.IsSupported && data.Length >= Crc32Folding512.MinLength)
            return ~Crc32Folding512.Update(~crc, data);
        if (Pclmulqdq.V256.IsSupported && data.Length >= Crc32Folding256.MinLength)
            return ~Crc32Folding256.Update(~crc, data);
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

        return CombineBy(first, second, Crc32Powers.OfBytes(secondLength));
    }

    /// <summary>
    /// What <see cref="Combine"/> makes of a length. Who joins many parts of one length asks for it once and takes
    /// <see cref="CombineBy"/>.
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
