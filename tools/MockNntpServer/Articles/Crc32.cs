using System.Buffers.Binary;

namespace Sluice.Tools.MockNntpServer.Articles;

/// <summary>CRC-32 as yEnc uses it (reflected polynomial 0xEDB88320), eight bytes per step by table.</summary>
internal static class Crc32
{
    private const uint Polynomial = 0xEDB88320;

    private static readonly uint[] Table = MakeTable();

    /// <summary>The CRC of a whole span.</summary>
    public static uint Compute(ReadOnlySpan<byte> bytes)
    {
        var table = Table;
        var crc = 0xFFFFFFFFu;
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
        return ~crc;
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
