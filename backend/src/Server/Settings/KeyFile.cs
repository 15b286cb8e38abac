using System.Security.Cryptography;
using Sluice.Server.Database;

namespace Sluice.Server.Settings;

/// <summary>Key files. Each contains 32 random bytes and is readable only by the process's user.</summary>
internal static class KeyFile
{
    public const int Bytes = 32;

    /// <summary>The key that encrypts the secrets in the database.</summary>
    public static string Of(DataFolder folder) => Path.Combine(folder.Keys, "secret.key");

    /// <summary>Reads a key. If there is none, the state says why.</summary>
    /// <exception cref="StorageException">The file cannot be read.</exception>
    public static (byte[]? Key, KeyState State) Read(string path)
    {
        try
        {
            if (!File.Exists(path))
                return (null, KeyState.Missing);
            using var file = File.OpenRead(path);
            var key = new byte[Bytes];
            var isWhole = file.ReadAtLeast(key, Bytes, throwOnEndOfStream: false) == Bytes && file.ReadByte() < 0;
            return isWhole ? (key, KeyState.Usable) : (null, KeyState.Damaged);
        }
        catch (Exception e) when (StorageException.From(e, path) is { } fault)
        {
            throw fault;
        }
    }

    /// <summary>Creates a random key. An existing file is kept under another name.</summary>
    /// <exception cref="StorageException">The file cannot be written.</exception>
    public static byte[] Make(string path)
    {
        try
        {
            SetAside(path);
            var key = RandomNumberGenerator.GetBytes(Bytes);
            Write(path, key);
            return key;
        }
        catch (Exception e) when (StorageException.From(e, path) is { } fault)
        {
            throw fault;
        }
    }

    /// <summary>Renames an existing key file to an unused name, because it may still decrypt something. Does nothing if there is no key file.</summary>
    public static void SetAside(string path)
    {
        if (!File.Exists(path))
            return;
        var number = 1;
        while (File.Exists($"{path}.former-{number}"))
            number++;
        File.Move(path, $"{path}.former-{number}");
    }

    /// <summary>Writes a new key file durably. Throws if the file exists.</summary>
    public static void Write(string path, ReadOnlySpan<byte> key)
    {
        var options = new FileStreamOptions { Mode = FileMode.CreateNew, Access = FileAccess.Write };
        if (!OperatingSystem.IsWindows())
            options.UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite;

        var temporary = path + ".tmp";
        File.Delete(temporary);
        using (var file = new FileStream(temporary, options))
        {
            file.Write(key);
            PosixCalls.SyncFile(file);
        }

        File.Move(temporary, path);
        PosixCalls.SyncFolder(Path.GetDirectoryName(path)!);
    }
}
