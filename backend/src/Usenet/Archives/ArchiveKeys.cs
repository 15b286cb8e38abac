namespace Sluice.Usenet.Archives;

/// <summary>The ways in which formats turn a password into a key.</summary>
public enum KeyScheme
{
    /// <summary>RAR 2.9 to 4: 2^18 rounds of SHA-1 give AES-128 key and initial vector.</summary>
    Rar4,

    /// <summary>RAR 5: PBKDF2 with HMAC-SHA-256 gives AES-256 key, hash key and check value.</summary>
    Rar5,

    /// <summary>7z: 2^n rounds of SHA-256 give an AES-256 key.</summary>
    SevenZip,
}

/// <summary>A question for a key.</summary>
/// <param name="Scheme">The way.</param>
/// <param name="Password">The password as it was given.</param>
/// <param name="Salt">The salt of the archive in hexadecimal digits, so that equal questions are equal; empty where it has none.</param>
/// <param name="RoundsLog2">Number of rounds as a power of two, at most 20 (7z: 63 stands for none); of no meaning for RAR 4.</param>
public readonly record struct KeyRequest(KeyScheme Scheme, string Password, string Salt, int RoundsLog2);

/// <summary>A derived key.</summary>
/// <param name="Key">16 or 32 bytes.</param>
/// <param name="Iv">The initial vector where the scheme derives it (RAR 4), else empty.</param>
/// <param name="Check">The 8 bytes that a check value of RAR 5 is compared with, else empty.</param>
public sealed record DerivedKey(ReadOnlyMemory<byte> Key, ReadOnlyMemory<byte> Iv, ReadOnlyMemory<byte> Check);

/// <summary>Derives keys. A seam, because honest derivation takes 20 ms and more.</summary>
/// <remarks>Thread-safe and without side effects.</remarks>
public interface IKeyDeriver
{
    /// <summary>Derives a key.</summary>
    /// <exception cref="ArchiveException">The rounds are more than the scheme may have.</exception>
    DerivedKey Derive(KeyRequest request);
}

/// <summary>The passwords of one release, and the keys that were derived from them.</summary>
/// <remarks>Thread-safe. Keys are derived once for each question, which takes time on the thread that asks.</remarks>
/// <param name="passwords">What is tried, in this order; may be empty.</param>
/// <param name="deriver">Derives.</param>
public sealed class ArchiveKeys(IReadOnlyList<string> passwords, IKeyDeriver deriver)
{
    // Guards _known. The deriver runs under it: two readers of one archive ask for the same key.
    private readonly Lock _gate = new();
    private readonly Dictionary<KeyRequest, DerivedKey> _known = [];

    /// <summary>What is tried, in this order.</summary>
    public IReadOnlyList<string> Passwords => passwords;

    /// <summary>The key of a question.</summary>
    /// <exception cref="ArchiveException">The rounds are more than the scheme may have.</exception>
    public DerivedKey Get(KeyRequest request)
    {
        lock (_gate)
        {
            if (!_known.TryGetValue(request, out var key))
                _known.Add(request, key = deriver.Derive(request));
            return key;
        }
    }
}
