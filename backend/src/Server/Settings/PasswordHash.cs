using System.Buffers.Text;
using System.Globalization;
using System.Security.Cryptography;
using System.Text;

namespace Sluice.Server.Settings;

/// <summary>
/// A password as it is stored: <c>pbkdf2-sha256$&lt;rounds&gt;$&lt;salt&gt;$&lt;hash&gt;</c>, both in base64 (CFG-51).
/// </summary>
/// <remarks>Immutable.</remarks>
internal sealed class PasswordHash
{
    private const string Prefix = "pbkdf2-sha256$";
    private const int Rounds = 600_000;
    private const int MaxRounds = 10_000_000;
    private const int SaltBytes = 16;
    private const int HashBytes = 32;

    private readonly int _rounds;
    private readonly byte[] _salt;
    private readonly byte[] _hash;

    private PasswordHash(int rounds, byte[] salt, byte[] hash)
    {
        _rounds = rounds;
        _salt = salt;
        _hash = hash;
    }

    /// <summary>Hashes a password with a salt of its own.</summary>
    public static PasswordHash Create(string password)
    {
        var salt = RandomNumberGenerator.GetBytes(SaltBytes);
        return new PasswordHash(Rounds, salt, Derive(password, salt, Rounds));
    }

    /// <summary>Whether a text is a stored hash rather than a password.</summary>
    public static bool IsHash(string text) => Parse(text) is not null;

    /// <summary>Reads the stored form; null for any other text.</summary>
    public static PasswordHash? Parse(string text)
    {
        if (!text.StartsWith(Prefix, StringComparison.Ordinal) || text.Length > 256)
            return null;

        var parts = text[Prefix.Length..].Split('$');
        if (parts.Length != 3
            || !int.TryParse(parts[0], NumberStyles.None, CultureInfo.InvariantCulture, out var rounds)
            || rounds is < 1 or > MaxRounds
            || !Base64.IsValid(parts[1]) || !Base64.IsValid(parts[2]))
        {
            return null;
        }

        var (salt, hash) = (Convert.FromBase64String(parts[1]), Convert.FromBase64String(parts[2]));
        return salt.Length == SaltBytes && hash.Length == HashBytes ? new PasswordHash(rounds, salt, hash) : null;
    }

    /// <summary>Whether a password gives this hash; takes the same time for a right and a wrong one.</summary>
    public bool Verify(string password) => CryptographicOperations.FixedTimeEquals(Derive(password, _salt, _rounds), _hash);

    /// <summary>The stored form.</summary>
    public override string ToString() =>
        string.Create(CultureInfo.InvariantCulture, $"{Prefix}{_rounds}${Convert.ToBase64String(_salt)}${Convert.ToBase64String(_hash)}");

    private static byte[] Derive(string password, byte[] salt, int rounds) =>
        Rfc2898DeriveBytes.Pbkdf2(Encoding.UTF8.GetBytes(password), salt, rounds, HashAlgorithmName.SHA256, HashBytes);
}
