using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Sluice.Server.Database;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Backups;

/// <summary>
/// A server's key file inside a backup, as <c>key.sealed</c>: AES-256-GCM under a key that PBKDF2-HMAC-SHA256 derives from a passphrase, so that a backup alone
/// cannot decrypt any secret (OPS-7).
/// </summary>
/// <param name="Rounds">Rounds of PBKDF2.</param>
/// <param name="Salt">Salt of PBKDF2.</param>
/// <param name="Box">Nonce, ciphertext and tag, concatenated.</param>
internal sealed record SealedKey(int Rounds, byte[] Salt, byte[] Box)
{
    public const string FileName = "key.sealed";

    private const int DefaultRounds = 600_000;
    private const int SaltBytes = 16;
    private const int NonceBytes = 12;
    private const int TagBytes = 16;

    // A damaged or foreign file must neither exhaust memory nor keep a CPU core busy for hours.
    private const int MaxRounds = 10_000_000;
    private const int MaxFileBytes = 4096;

    /// <summary>Encrypts a key. Each call produces a different file.</summary>
    public static byte[] Seal(ReadOnlySpan<byte> key, string passphrase)
    {
        var salt = RandomNumberGenerator.GetBytes(SaltBytes);
        var box = new byte[NonceBytes + key.Length + TagBytes];
        RandomNumberGenerator.Fill(box.AsSpan(0, NonceBytes));
        using var aes = new AesGcm(Derive(passphrase, salt, DefaultRounds), TagBytes);
        aes.Encrypt(box.AsSpan(0, NonceBytes), key, box.AsSpan(NonceBytes, key.Length), box.AsSpan(NonceBytes + key.Length), Encoding.UTF8.GetBytes(FileName));
        return JsonSerializer.SerializeToUtf8Bytes(new SealedKey(DefaultRounds, salt, box), BackupsJson.Default.SealedKey);
    }

    /// <summary>Decrypts a backup's key. Takes about a quarter of a second of CPU time.</summary>
    /// <returns>The key; null if the passphrase is wrong, or the backup has no intact key.</returns>
    /// <exception cref="StorageException">The file cannot be read.</exception>
    public static byte[]? TryOpen(string backup, string passphrase)
    {
        var path = Path.Combine(backup, FileName);
        var file = DurableFolder.Read(() => new FileInfo(path) is { Exists: true, Length: <= MaxFileBytes } ? File.ReadAllBytes(path) : null, path);
        return file is null ? null : TryOpen(file, passphrase);
    }

    private static byte[]? TryOpen(byte[] file, string passphrase)
    {
        try
        {
            if (JsonSerializer.Deserialize(file, BackupsJson.Default.SealedKey) is not
                { Rounds: > 0 and <= MaxRounds, Salt.Length: SaltBytes, Box.Length: NonceBytes + KeyFile.Bytes + TagBytes } found)
            {
                return null;
            }

            var key = new byte[KeyFile.Bytes];
            using var aes = new AesGcm(Derive(passphrase, found.Salt, found.Rounds), TagBytes);
            aes.Decrypt(
                found.Box.AsSpan(0, NonceBytes), found.Box.AsSpan(NonceBytes, key.Length), found.Box.AsSpan(NonceBytes + key.Length), key, Encoding.UTF8.GetBytes(FileName));
            return key;
        }
        catch (Exception e) when (e is JsonException or CryptographicException)
        {
            return null;
        }
    }

    // Normalize, because keyboards encode the same letter in different ways.
    private static byte[] Derive(string passphrase, byte[] salt, int rounds) =>
        Rfc2898DeriveBytes.Pbkdf2(Encoding.UTF8.GetBytes(NfcName.Of(passphrase)), salt, rounds, HashAlgorithmName.SHA256, KeyFile.Bytes);
}
