using System.Security.Cryptography;

namespace Sluice.Usenet.Archives;

/// <summary>The encryption parameters of RAR headers or of a file. Immutable. Contains no password and no key.</summary>
/// <param name="Scheme">RAR 4 (AES-128) or RAR 5 (AES-256).</param>
/// <param name="Salt">Hexadecimal digits; empty if there is none.</param>
/// <param name="RoundsLog2">Binary logarithm of the derivation rounds; ignored for RAR 4.</param>
public sealed record RarEncryption(KeyScheme Scheme, string Salt, int RoundsLog2)
{
    /// <summary>Length of a check value including its checksum.</summary>
    internal const int CheckLength = 12;

    /// <summary>The 16-byte initialization vector of file data. Empty for headers, which carry their own, and for RAR 4, which derives it.</summary>
    public ReadOnlyMemory<byte> Iv { get; init; }

    /// <summary>The 8-byte password check value; empty if absent or if its checksum is wrong.</summary>
    public ReadOnlyMemory<byte> Check { get; init; }

    public KeyRequest Request(string password) => new(Scheme, password, Salt, RoundsLog2);

    public KeyRequest CheckRequest(string password) => Request(password) with { Scheme = KeyScheme.Rar5Check };

    /// <summary>Returns the 8-byte check value if the following 4 bytes match its SHA-256, otherwise empty.</summary>
    internal static ReadOnlyMemory<byte> UsableCheck(ReadOnlySpan<byte> check)
    {
        Span<byte> sum = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(check[..8], sum);
        return check[8..CheckLength].SequenceEqual(sum[..4]) ? check[..8].ToArray() : ReadOnlyMemory<byte>.Empty;
    }
}
