using System.Security.Cryptography;
using System.Text;
using Sluice.Server.Database;

namespace Sluice.Server.Settings;

/// <summary>Whether the key file is the one that the secrets are sealed with.</summary>
internal enum KeyState
{
    /// <summary>It is, or nothing is sealed yet.</summary>
    Usable,

    /// <summary>There is no key file.</summary>
    Missing,

    /// <summary>The key file does not have the length of a key.</summary>
    Damaged,

    /// <summary>The key file holds another key.</summary>
    Other,
}

/// <summary>
/// Encrypts secrets for the database: <c>enc:v1:&lt;base64(nonce ‖ ciphertext ‖ tag)&gt;</c>, AES-256-GCM with the name of the
/// setting as associated data, so that a value cannot be moved to another name (CFG-50). A box whose key file is lost is locked: it
/// makes no key by itself, so that the lost file finds its place free when it comes back (CFG-53).
/// </summary>
/// <remarks>Thread-safe. The key file is made with the first secret that is sealed.</remarks>
internal sealed class SecretBox(DataFolder folder)
{
    /// <summary>The key file as sentences name it.</summary>
    public const string KeyFile = "keys/secret.key";

    private const string Prefix = "enc:v1:";
    private const string KeyName = "secret.key";
    private const string InterimName = "interim.key";
    private const int KeyBytes = 32;
    private const int NonceBytes = 12;
    private const int TagBytes = 16;
    private const int FingerprintBytes = 16;

    // Guards the keys and the state. A storage fault while a key is read or made leaves them as they were.
    private readonly Lock _gate = new();
    private bool _isPrepared;
    private KeyState _state;
    private byte[]? _key;
    private byte[]? _interim;

    private string KeyPath => Path.Combine(folder.Keys, KeyName);

    /// <summary>Whether secrets can be sealed and opened.</summary>
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

    /// <summary>Whether the key file is lost, so that nothing can be sealed and what is sealed cannot be opened.</summary>
    public bool IsLocked => State != KeyState.Usable;

    /// <summary>Why a sealed secret does not open, as the end of a sentence that begins with "because".</summary>
    public string Cause => State switch
    {
        KeyState.Missing => $"{KeyFile} is missing",
        KeyState.Damaged => $"{KeyFile} is damaged",
        _ => $"{KeyFile} holds another key",
    };

    /// <summary>Identifies the key without giving it away; null as long as there is none, or the box is locked.</summary>
    public string? Fingerprint
    {
        get
        {
            lock (_gate)
                return _key is { } key ? FingerprintOf(key) : null;
        }
    }

    /// <summary>Whether a stored text was made by a box.</summary>
    public static bool IsSealed(string text) => text.StartsWith(Prefix, StringComparison.Ordinal);

    /// <summary>Reads the key file and compares it with the key that the secrets are sealed with.</summary>
    /// <param name="fingerprint">That of the key, as the database has it; null if it has none.</param>
    /// <param name="values">Sealed values by name. Without a fingerprint the key is the right one if it opens one of them.</param>
    /// <exception cref="StorageException">The file cannot be read.</exception>
    public void Prepare(string? fingerprint, IReadOnlyDictionary<string, string> values)
    {
        lock (_gate)
        {
            var (key, state) = ReadKey(KeyPath);
            _interim = ReadKey(Path.Combine(folder.Keys, InterimName)).Key;
            var isNew = fingerprint is null && values.Count == 0;
            var isRight = key is not null
                && (fingerprint is not null ? FingerprintOf(key) == fingerprint : isNew || values.Any(value => Open(key, value.Key, value.Value) is not null));
            _key = isRight ? key : null;
            _state = isRight || isNew ? KeyState.Usable : key is not null ? KeyState.Other : state;
            _isPrepared = true;
        }
    }

    /// <summary>Encrypts a value for storage under a name.</summary>
    /// <exception cref="StorageException">The box is locked, or its key cannot be read or made.</exception>
    public string Seal(string name, string value)
    {
        lock (_gate)
        {
            PrepareOnce();
            RequireKey();
            return Seal(_key ??= MakeKey(KeyPath), name, value);
        }
    }

    /// <summary>
    /// Encrypts a value that a person has entered, also while the box is locked: under an interim key with a file of its own, which opens
    /// the value from then on, whatever becomes of the lost key.
    /// </summary>
    /// <exception cref="StorageException">A key cannot be read or made.</exception>
    public string SealEntered(string name, string value)
    {
        lock (_gate)
        {
            PrepareOnce();
            return _state == KeyState.Usable
                ? Seal(_key ??= MakeKey(KeyPath), name, value)
                : Seal(_interim ??= MakeKey(Path.Combine(folder.Keys, InterimName)), name, value);
        }
    }

    /// <summary>Decrypts what was sealed under the same name; null if the key is not here or the text was changed (CFG-53).</summary>
    public string? Open(string name, string text)
    {
        lock (_gate)
        {
            PrepareOnce();
            return (_key is { } key ? Open(key, name, text) : null) ?? (_interim is { } interim ? Open(interim, name, text) : null);
        }
    }

    /// <summary>Throws if the box is locked.</summary>
    /// <exception cref="StorageException">It is.</exception>
    public void RequireKey()
    {
        if (IsLocked)
            throw Locked();
    }

    /// <summary>Returns the fault that keeps a sealed value from being used.</summary>
    public StorageException Locked() => StorageException.Unusable(
        KeyPath,
        State switch
        {
            KeyState.Missing => "it is missing",
            KeyState.Damaged => "it is damaged",
            _ => "it holds another key than the one that secrets are sealed with",
        });

    /// <summary>
    /// Makes a new key file in place of the lost one. A file in its place is kept under another name. The box stays locked until the
    /// replacement is adopted, which is done once the database has its fingerprint: a kill in between changes nothing.
    /// </summary>
    /// <returns>Null if the box is not locked.</returns>
    /// <exception cref="StorageException">The file cannot be made.</exception>
    public Replacement? MakeReplacement()
    {
        lock (_gate)
        {
            PrepareOnce();
            return _state == KeyState.Usable ? null : new Replacement(this, MakeKey(KeyPath));
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

    private static (byte[]? Key, KeyState State) ReadKey(string path)
    {
        try
        {
            if (!File.Exists(path))
                return (null, KeyState.Missing);
            using var file = File.OpenRead(path);
            var key = new byte[KeyBytes];
            var isWhole = file.ReadAtLeast(key, KeyBytes, throwOnEndOfStream: false) == KeyBytes && file.ReadByte() < 0;
            return isWhole ? (key, KeyState.Usable) : (null, KeyState.Damaged);
        }
        catch (Exception e) when (StorageException.From(e, path) is { } fault)
        {
            throw fault;
        }
    }

    private static byte[] MakeKey(string path)
    {
        try
        {
            if (File.Exists(path))
                File.Move(path, FreeNameFor(path));
            var key = RandomNumberGenerator.GetBytes(KeyBytes);
            WriteKey(path, key);
            return key;
        }
        catch (Exception e) when (StorageException.From(e, path) is { } fault)
        {
            throw fault;
        }
    }

    /// <summary>A name for a key file that makes room for another one: it may still open something.</summary>
    private static string FreeNameFor(string path)
    {
        var number = 1;
        while (File.Exists($"{path}.former-{number}"))
            number++;
        return $"{path}.former-{number}";
    }

    private static void WriteKey(string path, byte[] key)
    {
        var options = new FileStreamOptions { Mode = FileMode.CreateNew, Access = FileAccess.Write };
        if (!OperatingSystem.IsWindows())
            options.UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite;

        var temporary = path + ".tmp";
        File.Delete(temporary);
        using (var file = new FileStream(temporary, options))
        {
            file.Write(key);
            file.Flush(flushToDisk: true);
        }

        File.Move(temporary, path);
        PosixCalls.SyncFolder(Path.GetDirectoryName(path)!);
    }

    /// <summary>A key whose file has taken the place of the lost one.</summary>
    public sealed class Replacement(SecretBox box, byte[] key)
    {
        /// <summary>Its fingerprint.</summary>
        public string Fingerprint => FingerprintOf(key);

        /// <summary>Unlocks the box with it.</summary>
        public void Adopt()
        {
            lock (box._gate)
                (box._key, box._state) = (key, KeyState.Usable);
        }
    }
}
