using System.Security.Cryptography;
using System.Text;
using Sluice.Server.Database;

namespace Sluice.Server.Settings;

/// <summary>
/// Encrypts secrets for the database: <c>enc:v1:&lt;base64(nonce ‖ ciphertext ‖ tag)&gt;</c>, AES-256-GCM with the name of the
/// setting as associated data, so that a value cannot be moved to another name (CFG-50).
/// </summary>
/// <remarks>Thread-safe. The key file is read, or made, at the first use.</remarks>
internal sealed class SecretBox(DataFolder folder)
{
    private const string Prefix = "enc:v1:";
    private const string KeyFile = "secret.key";
    private const int KeyBytes = 32;
    private const int NonceBytes = 12;
    private const int TagBytes = 16;

    // Guards the key: it is made once, and a fault of storage that passes is not remembered.
    private readonly Lock _gate = new();
    private byte[]? _key;

    private byte[] Key
    {
        get
        {
            lock (_gate)
                return _key ??= LoadKey(Path.Combine(folder.Keys, KeyFile));
        }
    }

    /// <summary>Whether a stored text was made by a box.</summary>
    public static bool IsSealed(string text) => text.StartsWith(Prefix, StringComparison.Ordinal);

    /// <summary>Encrypts a value for storage under a name.</summary>
    public string Seal(string name, string value)
    {
        var plain = Encoding.UTF8.GetBytes(value);
        var box = new byte[NonceBytes + plain.Length + TagBytes];
        var nonce = box.AsSpan(0, NonceBytes);
        RandomNumberGenerator.Fill(nonce);
        using var aes = new AesGcm(Key, TagBytes);
        aes.Encrypt(nonce, plain, box.AsSpan(NonceBytes, plain.Length), box.AsSpan(NonceBytes + plain.Length), Encoding.UTF8.GetBytes(name));
        return Prefix + Convert.ToBase64String(box);
    }

    /// <summary>Decrypts what <see cref="Seal"/> made under the same name; null when the key is another one or the text was changed (CFG-53).</summary>
    public string? Open(string name, string text)
    {
        if (!IsSealed(text))
            return null;

        try
        {
            var box = Convert.FromBase64String(text[Prefix.Length..]);
            if (box.Length < NonceBytes + TagBytes)
                return null;

            var plain = new byte[box.Length - NonceBytes - TagBytes];
            using var aes = new AesGcm(Key, TagBytes);
            aes.Decrypt(box.AsSpan(0, NonceBytes), box.AsSpan(NonceBytes, plain.Length), box.AsSpan(NonceBytes + plain.Length), plain, Encoding.UTF8.GetBytes(name));
            return Encoding.UTF8.GetString(plain);
        }
        catch (Exception e) when (e is FormatException or CryptographicException)
        {
            return null;
        }
    }

    /// <exception cref="StorageException">The file can be neither read nor made.</exception>
    private static byte[] LoadKey(string path)
    {
        try
        {
            return ReadOrMakeKey(path);
        }
        catch (Exception e) when (StorageException.From(e, path) is { } fault)
        {
            throw fault;
        }
    }

    private static byte[] ReadOrMakeKey(string path)
    {
        if (File.Exists(path))
        {
            var found = File.ReadAllBytes(path);
            if (found.Length == KeyBytes)
                return found;

            // A damaged key opens no secret; it is kept under another name, so that an operator may restore it.
            File.Move(path, path + ".damaged", overwrite: true);
        }

        var key = RandomNumberGenerator.GetBytes(KeyBytes);
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
        return key;
    }
}
