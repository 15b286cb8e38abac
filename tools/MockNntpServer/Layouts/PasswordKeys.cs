using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;

namespace Sluice.Tools.MockNntpServer.Layouts;

/// <summary>Derives keys from passwords as the archive formats do. Pure.</summary>
internal static class PasswordKeys
{
    private const int Rar4Rounds = 1 << 18;

    /// <summary>RAR 5.0, "Encryption": PBKDF2 with HMAC-SHA-256. 32 additional rounds give the password check value.</summary>
    /// <returns>The 32-byte key and the 8-byte check value.</returns>
    public static (byte[] Key, byte[] Check) Rar5(string password, byte[] salt, int roundsLog2)
    {
        var (bytes, rounds) = (Encoding.UTF8.GetBytes(password), 1 << roundsLog2);
        var check = new byte[8];
        var folded = Rfc2898DeriveBytes.Pbkdf2(bytes, salt, rounds + 32, HashAlgorithmName.SHA256, 32);
        for (var i = 0; i < folded.Length; i++)
            check[i % 8] ^= folded[i];
        return (Rfc2898DeriveBytes.Pbkdf2(bytes, salt, rounds, HashAlgorithmName.SHA256, 32), check);
    }

    /// <summary>RAR 2.9 to 4: SHA-1 over password, salt and counter, 2^18 times. Sixteen intermediate states give the vector.</summary>
    /// <param name="password">At most 28 characters, because the original treats longer ones irregularly.</param>
    /// <param name="salt">8 bytes.</param>
    /// <returns>Key and initialization vector, 16 bytes each.</returns>
    public static (byte[] Key, byte[] Iv) Rar4(string password, byte[] salt)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(password.Length, 28);
        byte[] text = [.. Encoding.Unicode.GetBytes(password), .. salt];
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA1);
        var (key, iv) = (new byte[16], new byte[16]);
        Span<byte> counter = stackalloc byte[4];
        for (var round = 0; round < Rar4Rounds; round++)
        {
            BinaryPrimitives.WriteInt32LittleEndian(counter, round);
            hash.AppendData(text);
            hash.AppendData(counter[..3]);
            if (round % (Rar4Rounds / 16) == 0)
                iv[round / (Rar4Rounds / 16)] = hash.GetCurrentHash()[19];
        }

        var digest = hash.GetHashAndReset();
        for (var i = 0; i < key.Length; i++)
            key[i] = digest[(i / 4 * 4) + 3 - (i % 4)];
        return (key, iv);
    }

    /// <summary>7z: one SHA-256 over salt, password and counter, repeated 2^n times.</summary>
    public static byte[] SevenZip(string password, byte[] salt, int roundsLog2)
    {
        byte[] text = [.. salt, .. Encoding.Unicode.GetBytes(password), .. new byte[8]];
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        for (long round = 0; round < 1L << roundsLog2; round++)
        {
            BinaryPrimitives.WriteInt64LittleEndian(text.AsSpan(text.Length - 8), round);
            hash.AppendData(text);
        }

        return hash.GetHashAndReset();
    }
}
