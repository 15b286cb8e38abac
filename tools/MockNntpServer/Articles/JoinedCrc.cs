namespace Sluice.Tools.MockNntpServer.Articles;

/// <summary>CRC-32 of concatenated pieces (reflected polynomial 0xEDB88320), because <c>System.IO.Hashing</c> cannot combine CRCs.</summary>
internal static class JoinedCrc
{
    private const uint Polynomial = 0xEDB88320;

    /// <summary>Combines the CRCs of two pieces. Only the length of the second is needed.</summary>
    public static uint Of(uint first, uint second, long secondLength) => Multiply(PowerOfX(8 * (ulong)secondLength), first) ^ second;

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
}
