using System.Security.Cryptography;
using System.Text;
using Sluice.Server.Database;

namespace Sluice.Server.Settings;

internal enum KeyState
{
    /// <summary>The key matches, or nothing has been encrypted yet.</summary>
    Usable,

    Missing,

    /// <summary>The key file has the wrong length.</summary>
    Damaged,

    Other,
}

/// <summary>
/// Encrypts secrets for the database as <c>enc:v1:&lt;base64(nonce ‖ ciphertext ‖ tag)&gt;</c>: AES-256-GCM with the setting's name as associated data, so that
/// a value cannot move to another name (CFG-50). If the key file is lost, the box is locked and creates no new key, so that the old file can be restored
/// (CFG-53). Thread-safe. The first encryption creates the key file.
/// </summary>
internal sealed class SecretBox(DataFolder folder)
{
    public const string KeyFileName = "keys/secret.key";

    private const string Prefix = "enc:v1:";
    private const string InterimName = "interim.key";
    private const int NonceBytes = 12;
    private const int TagBytes = 16;
    private const int FingerprintBytes = 16;

    // Guards keys and state. If reading or creating a key fails, both stay unchanged.
    private readonly Lock _gate = new();
    private bool _isPrepared;
    private KeyState _state;
    private byte[]? _key;
    private byte[]? _interim;

    private string KeyPath => KeyFile.Of(folder);

    public KeyState State
    {
        get
        {
            lock (_gate)
            {
                PrepareOnce();
                return _state;
            }
        }
    }

    /// <summary>Whether the key file is lost, so that nothing can be encrypted or decrypted.</summary>
    public bool IsLocked => State != KeyState.Usable;

    /// <summary>Why a secret cannot be decrypted, to follow "because" in a sentence.</summary>
    public string Cause => State switch
    {
        KeyState.Missing => $"{KeyFileName} is missing",
        KeyState.Damaged => $"{KeyFileName} is damaged",
        _ => $"{KeyFileName} holds another key",
    };

    /// <summary>Identifies the key without revealing it; null without a key or while locked.</summary>
    public string? Fingerprint
    {
        get
        {
            lock (_gate)
                return _key is { } key ? FingerprintOf(key) : null;
        }
    }

    /// <summary>Returns a copy of the key for a backup; null without a key or while locked.</summary>
    public byte[]? CopyKey()
    {
        lock (_gate)
            return _key?.ToArray();
    }

    /// <summary>Whether a key decrypts a value stored under this name.</summary>
    public static bool IsKeyOf(byte[] key, string name, string text) => Open(key, name, text) is not null;

    public static bool IsSealed(string text) => text.StartsWith(Prefix, StringComparison.Ordinal);

    /// <summary>Reads the key file and verifies it against the encrypted secrets.</summary>
    /// <param name="fingerprint">Fingerprint of the key in the database, or null.</param>
    /// <param name="values">Encrypted values by name. If there is no fingerprint, a key that decrypts any of these is accepted.</param>
    /// <exception cref="StorageException">The file cannot be read.</exception>
    public void Prepare(string? fingerprint, IReadOnlyDictionary<string, string> values)
    {
        lock (_gate)
        {
            var (key, state) = KeyFile.Read(KeyPath);
            _interim = KeyFile.Read(Path.Combine(folder.Keys, InterimName)).Key;
            var isNew = fingerprint is null && values.Count == 0;
            var isRight = key is not null
                && (fingerprint is not null ? FingerprintOf(key) == fingerprint : isNew || values.Any(value => Open(key, value.Key, value.Value) is not null));
            _key = isRight ? key : null;
            _state = isRight || isNew ? KeyState.Usable : key is not null ? KeyState.Other : state;
            _isPrepared = true;
        }
    }

    /// <summary>Encrypts a value under a name.</summary>
    /// <exception cref="StorageException">The box is locked, or its key cannot be read or created.</exception>
    public string Seal(string name, string value)
    {
        lock (_gate)
        {
            PrepareOnce();
            RequireKey();
            return Seal(_key ??= KeyFile.Make(KeyPath), name, value);
        }
    }

    /// <summary>
    /// Encrypts a value that a user entered. While locked, uses an interim key in a separate file, so that the value survives the loss of the key.
    /// </summary>
    /// <exception cref="StorageException">A key cannot be read or created.</exception>
    public string SealEntered(string name, string value)
    {
        lock (_gate)
        {
            PrepareOnce();
            return _state == KeyState.Usable
                ? Seal(_key ??= KeyFile.Make(KeyPath), name, value)
                : Seal(_interim ??= KeyFile.Make(Path.Combine(folder.Keys, InterimName)), name, value);
        }
    }

    /// <summary>Decrypts a value stored under this name; null if the key is missing or the text was changed (CFG-53).</summary>
    public string? Open(string name, string text)
    {
        lock (_gate)
        {
            PrepareOnce();
            return (_key is { } key ? Open(key, name, text) : null) ?? (_interim is { } interim ? Open(interim, name, text) : null);
        }
    }

    public void RequireKey()
    {
        if (IsLocked)
            throw Locked();
    }

    public StorageException Locked() => StorageException.Unusable(
        KeyPath,
        State switch
        {
            KeyState.Missing => "it is missing",
            KeyState.Damaged => "it is damaged",
            _ => "it holds another key than the one that secrets are sealed with",
        });

    /// <summary>
    /// Creates a new key file and keeps an existing one under another name. The box stays locked until <see cref="Replacement.Adopt"/>. Call Adopt after the
    /// database has stored the fingerprint, so that a kill in between changes nothing. Null if the box is not locked.
    /// </summary>
    /// <exception cref="StorageException">The file cannot be created.</exception>
    public Replacement? MakeReplacement()
    {
        lock (_gate)
        {
            PrepareOnce();
            return _state == KeyState.Usable ? null : new Replacement(this, KeyFile.Make(KeyPath));
        }
    }

    private void PrepareOnce()
    {
        if (!_isPrepared)
            Prepare(null, new Dictionary<string, string>());
    }

    private static string Seal(byte[] key, string name, string value)
    {
        var plain = Encoding.UTF8.GetBytes(value);
        var box = new byte[NonceBytes + plain.Length + TagBytes];
        var nonce = box.AsSpan(0, NonceBytes);
        RandomNumberGenerator.Fill(nonce);
        using var aes = new AesGcm(key, TagBytes);
        aes.Encrypt(nonce, plain, box.AsSpan(NonceBytes, plain.Length), box.AsSpan(NonceBytes + plain.Length), Encoding.UTF8.GetBytes(name));
        return Prefix + Convert.ToBase64String(box);
    }

    private static string? Open(byte[] key, string name, string text)
    {
        if (!IsSealed(text))
            return null;

        try
        {
            var box = Convert.FromBase64String(text[Prefix.Length..]);
            if (box.Length < NonceBytes + TagBytes)
                return null;

            var plain = new byte[box.Length - NonceBytes - TagBytes];
            using var aes = new AesGcm(key, TagBytes);
            aes.Decrypt(box.AsSpan(0, NonceBytes), box.AsSpan(NonceBytes, plain.Length), box.AsSpan(NonceBytes + plain.Length), plain, Encoding.UTF8.GetBytes(name));
            return Encoding.UTF8.GetString(plain);
        }
        catch (Exception e) when (e is FormatException or CryptographicException)
        {
            return null;
        }
    }

    private static string FingerprintOf(byte[] key) =>
        Convert.ToHexStringLower(HMACSHA256.HashData(key, "fingerprint"u8).AsSpan(0, FingerprintBytes));

    /// <summary>A new key file that replaces the lost one.</summary>
    public sealed class Replacement(SecretBox box, byte[] key)
    {
        public string Fingerprint => FingerprintOf(key);

        public void Adopt()
        {
            lock (box._gate)
                (box._key, box._state) = (key, KeyState.Usable);
        }
    }
}
