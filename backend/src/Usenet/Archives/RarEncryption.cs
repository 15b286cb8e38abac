using System.Security.Cryptography;

namespace Sluice.Usenet.Archives;

/// <summary>How headers or a file of a RAR archive are encrypted.</summary>
/// <remarks>Immutable. Holds no password and no key.</remarks>
/// <param name="Scheme">RAR 4 (AES-128) or RAR 5 (AES-256).</param>
/// <param name="Salt">In hexadecimal digits; empty where there is none.</param>
/// <param name="RoundsLog2">Rounds of the derivation as a power of two; of no meaning for RAR 4.</param>
public sealed record RarEncryption(KeyScheme Scheme, string Salt, int RoundsLog2)
{
    /// <summary>Length of a check value with the sum of itself.</summary>
    internal const int CheckLength = 12;

    /// <summary>The initial vector of a file's data, 16 bytes; empty for headers, which carry their own, and for RAR 4, which derives it.</summary>
    public ReadOnlyMemory<byte> Iv { get; init; }

    /// <summary>The 8 bytes that a password is checked with; empty where there are none, or where their own sum is wrong.</summary>
    public ReadOnlyMemory<byte> Check { get; init; }

    /// <summary>The question for the key of a password.</summary>
    public KeyRequest Request(string password) => new(Scheme, password, Salt, RoundsLog2);

    /// <summary>The question for the check value of a password.</summary>
    public KeyRequest CheckRequest(string password) => Request(password) with { Scheme = KeyScheme.Rar5Check };

    /// <summary>What of a check value can be used: 8 bytes, of whose SHA-256 the first 4 bytes follow.</summary>
    internal static ReadOnlyMemory<byte> UsableCheck(ReadOnlySpan<byte> check)
    {
        Span<byte> sum = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(check[..8], sum);
        return check[8..CheckLength].SequenceEqual(sum[..4]) ? check[..8].ToArray() : ReadOnlyMemory<byte>.Empty;
    }
}
