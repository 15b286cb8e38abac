using System.Buffers.Binary;
using System.Buffers.Text;
using System.Globalization;
using System.Security.Cryptography;
using System.Text;

namespace Sluice.Server.Settings;

/// <summary>
/// A stored password: <c>pbkdf2-sha256$&lt;rounds&gt;$&lt;salt&gt;$&lt;hash&gt;</c> with base64 salt and hash (CFG-51). Until its first use, an imported
/// password is <c>identity$&lt;hash&gt;$&lt;suffix&gt;</c>: an ASP.NET Identity hash, and the base64 form of the string that was appended to the password
/// (CFG-42). Immutable.
/// </summary>
internal sealed class PasswordHash
{
    private const string Prefix = "pbkdf2-sha256$";
    private const string IdentityPrefix = "identity$";
    private const int Rounds = 600_000;
    private const int MaxRounds = 10_000_000;
    private const int SaltBytes = 16;
    private const int HashBytes = 32;
    private const int MaxText = 512;

    private readonly HashAlgorithmName _algorithm = HashAlgorithmName.SHA256;
    private readonly int _rounds;
    private readonly byte[] _salt;
    private readonly byte[] _hash;

    // Only for imported hashes: their stored form, and the string appended to the password.
    private readonly string? _imported;
    private readonly string _suffix = "";

    private PasswordHash(int rounds, byte[] salt, byte[] hash)
    {
        _rounds = rounds;
        _salt = salt;
        _hash = hash;
    }

    private PasswordHash(string imported, HashAlgorithmName algorithm, int rounds, byte[] salt, byte[] hash, string suffix)
        : this(rounds, salt, hash) => (_imported, _algorithm, _suffix) = (imported, algorithm, suffix);

    /// <summary>Whether the hash is weaker than a new one, so that the next successful login must replace it.</summary>
    public bool IsImported => _imported is not null;

    public static PasswordHash Create(ChosenPassword password) => OfText(password.Text);

    /// <summary>Parses a stored hash, or hashes a strong password; null for any other text.</summary>
    public static PasswordHash? Of(string text) => Parse(text) ?? (ChosenPassword.Judge(text) is { } chosen ? Create(chosen) : null);

    /// <summary>Parses a base64 ASP.NET Identity hash (version 2 or 3), given the string appended to the password; null if invalid.</summary>
    public static PasswordHash? OfIdentity(string text, string suffix)
    {
        var imported = $"{IdentityPrefix}{text}${Convert.ToBase64String(Encoding.UTF8.GetBytes(suffix))}";
        if (imported.Length > MaxText || !Base64.IsValid(text))
            return null;
        var bytes = Convert.FromBase64String(text);
        // Version 2 has fixed lengths. Version 3 starts with the function, the rounds and the salt length.
        if (bytes is [0, ..] && bytes.Length == 1 + SaltBytes + HashBytes)
            return new PasswordHash(imported, HashAlgorithmName.SHA1, 1000, bytes[1..(1 + SaltBytes)], bytes[(1 + SaltBytes)..], suffix);
        if (bytes is not [1, ..] || bytes.Length < 13)
            return null;
        var (function, rounds, saltBytes) = (ReadNumber(1), ReadNumber(5), ReadNumber(9));
        if (function > 2 || rounds is < 1 or > MaxRounds || saltBytes is < 8 or > 64 || bytes.Length - 13 - saltBytes is < 16 or > 64)
            return null;
        var algorithm = function switch { 0 => HashAlgorithmName.SHA1, 1 => HashAlgorithmName.SHA256, _ => HashAlgorithmName.SHA512 };
        return new PasswordHash(imported, algorithm, (int)rounds, bytes[13..(13 + (int)saltBytes)], bytes[(13 + (int)saltBytes)..], suffix);

        uint ReadNumber(int at) => BinaryPrimitives.ReadUInt32BigEndian(bytes.AsSpan(at));
    }

    public static bool IsHash(string text) => Parse(text) is not null;

    public static PasswordHash? Parse(string text)
    {
        if (text.StartsWith(IdentityPrefix, StringComparison.Ordinal) && text.Length <= MaxText)
        {
            return text[IdentityPrefix.Length..].Split('$') is [var hashed, var suffix] && Base64.IsValid(suffix)
                ? OfIdentity(hashed, Encoding.UTF8.GetString(Convert.FromBase64String(suffix)))
                : null;
        }

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

    /// <summary>Verifies a password in constant time.</summary>
    public bool Verify(string password) => CryptographicOperations.FixedTimeEquals(Derive(password + _suffix, _salt, _rounds, _algorithm, _hash.Length), _hash);

    /// <summary>Rehashes a password at full strength; null if the password is wrong. Accepts weak passwords, because the old server did (CFG-42).</summary>
    public PasswordHash? Renew(string password) => Verify(password) ? OfText(password) : null;

    public override string ToString() =>
        _imported ?? string.Create(CultureInfo.InvariantCulture, $"{Prefix}{_rounds}${Convert.ToBase64String(_salt)}${Convert.ToBase64String(_hash)}");

    private static PasswordHash OfText(string password)
    {
        var salt = RandomNumberGenerator.GetBytes(SaltBytes);
        return new PasswordHash(Rounds, salt, Derive(password, salt, Rounds, HashAlgorithmName.SHA256, HashBytes));
    }

    private static byte[] Derive(string password, byte[] salt, int rounds, HashAlgorithmName algorithm, int length) =>
        Rfc2898DeriveBytes.Pbkdf2(Encoding.UTF8.GetBytes(password), salt, rounds, algorithm, length);
}
