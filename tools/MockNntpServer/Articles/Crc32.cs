using System.Buffers.Binary;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Sluice.Tools.MockNntpServer.Articles;

/// <summary>
/// CRC-32 as yEnc uses it (reflected polynomial 0xEDB88320): 64 bytes per step by carry-less multiplication where the processor has
/// it (Gopal and others, "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ", Intel 2009), eight by table elsewhere.
/// </summary>
internal static class Crc32
{
    private const uint Polynomial = 0xEDB88320;
    private const int Stride = 64;

    private static readonly uint[] Table = MakeTable();

    // x to the 512 + 32 and 512 - 32, x to the 128 + 32 and 128 - 32, modulo the polynomial and reflected.
    private static Vector128<ulong> By512 => Vector128.Create(0x0154442BD4UL, 0x01C6E41596UL);

    private static Vector128<ulong> By128 => Vector128.Create(0x01751997D0UL, 0x00CCAA009EUL);

    /// <summary>The CRC of a whole span.</summary>
    public static uint Compute(ReadOnlySpan<byte> bytes)
    {
        var crc = 0xFFFFFFFFu;
        if (Pclmulqdq.IsSupported && bytes.Length >= 2 * Stride)
        {
            var whole = bytes.Length / Stride * Stride;
            crc = Fold(bytes[..whole], crc);
            bytes = bytes[whole..];
        }

        return ~Update(crc, bytes);
    }

    /// <summary>Stands for so many blocks of 64 bytes by one of 16, whose CRC is the same.</summary>
    private static uint Fold(ReadOnlySpan<byte> bytes, uint crc)
    {
        var blocks = MemoryMarshal.Cast<byte, Vector128<ulong>>(bytes);
        var (a, b, c, d) = (blocks[0] ^ Vector128.CreateScalar((ulong)crc), blocks[1], blocks[2], blocks[3]);
        for (var i = 4; i < blocks.Length; i += 4)
        {
            a = Shift(a, By512) ^ blocks[i];
            b = Shift(b, By512) ^ blocks[i + 1];
            c = Shift(c, By512) ^ blocks[i + 2];
            d = Shift(d, By512) ^ blocks[i + 3];
        }

        b ^= Shift(a, By128);
        c ^= Shift(b, By128);
        d ^= Shift(c, By128);
        Span<byte> rest = stackalloc byte[16];
        d.AsByte().CopyTo(rest);
        return Update(0, rest);
    }

    /// <summary>Multiplies by a power of x modulo the polynomial.</summary>
    private static Vector128<ulong> Shift(Vector128<ulong> value, Vector128<ulong> power) =>
        Pclmulqdq.CarrylessMultiply(value, power, 0x00) ^ Pclmulqdq.CarrylessMultiply(value, power, 0x11);

    private static uint Update(uint crc, ReadOnlySpan<byte> bytes)
    {
        var table = Table;
        while (bytes.Length >= 8)
        {
            var low = BinaryPrimitives.ReadUInt32LittleEndian(bytes) ^ crc;
            var high = BinaryPrimitives.ReadUInt32LittleEndian(bytes[4..]);
            crc = table[(7 * 256) + (byte)low] ^ table[(6 * 256) + (byte)(low >> 8)]
                ^ table[(5 * 256) + (byte)(low >> 16)] ^ table[(4 * 256) + (low >> 24)]
                ^ table[(3 * 256) + (byte)high] ^ table[(2 * 256) + (byte)(high >> 8)]
                ^ table[256 + (byte)(high >> 16)] ^ table[high >> 24];
            bytes = bytes[8..];
        }

        foreach (var b in bytes)
            crc = table[(byte)(crc ^ b)] ^ (crc >> 8);
        return crc;
    }

    /// <summary>The CRC of two pieces in a row, from the CRC of each and the length of the second.</summary>
    public static uint Combine(uint first, uint second, long secondLength) =>
        Multiply(PowerOfX(8 * (ulong)secondLength), first) ^ second;

    /// <summary>x to the n-th modulo the polynomial; the highest bit is x to the 0.</summary>
    private static uint PowerOfX(ulong n)
    {
        var result = 1u << 31;
        for (var square = 1u << 30; n != 0; n >>= 1)
        {
            if ((n & 1) != 0)
                result = Multiply(square, result);
            square = Multiply(square, square);
        }

        return result;
    }

    private static uint Multiply(uint a, uint b)
    {
        uint product = 0;
        for (var bit = 1u << 31; bit != 0; bit >>= 1)
        {
            if ((a & bit) != 0)
                product ^= b;
            b = (b & 1) != 0 ? (b >> 1) ^ Polynomial : b >> 1;
        }

        return product;
    }

    private static uint[] MakeTable()
    {
        var table = new uint[8 * 256];
        for (uint i = 0; i < 256; i++)
        {
            var crc = i;
            for (var bit = 0; bit < 8; bit++)
                crc = (crc & 1) != 0 ? (crc >> 1) ^ Polynomial : crc >> 1;
            table[i] = crc;
        }

        for (var i = 256; i < table.Length; i++)
            table[i] = (table[i - 256] >> 8) ^ table[(byte)table[i - 256]];
        return table;
    }
}
