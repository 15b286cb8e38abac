using System.Buffers.Binary;

namespace Sluice.Server.Backups;

/// <summary>
/// Reads and writes <c>blobs.keys</c>: the keys of all blobs that a backup needs, 16 bytes each, sorted and distinct. Blobs never change, so a backup in the
/// data folder refers to them instead of copying them (OPS-4).
/// </summary>
internal static class BackupKeys
{
    public const string FileName = "blobs.keys";

    private const int KeyBytes = 16;

    // Far more than any library has, so that a damaged length cannot exhaust memory.
    private const long MaxKeys = 100_000_000;

    public static byte[] ToBytes(IEnumerable<UInt128> keys)
    {
        UInt128[] sorted = [.. keys.Distinct().Order()];
        var bytes = new byte[sorted.Length * KeyBytes];
        for (var i = 0; i < sorted.Length; i++)
            BinaryPrimitives.WriteUInt128BigEndian(bytes.AsSpan(i * KeyBytes), sorted[i]);
        return bytes;
    }

    /// <summary>Reads the keys of one backup.</summary>
    /// <exception cref="IOException">The file is missing, damaged or cannot be read.</exception>
    public static IEnumerable<UInt128> Read(string folder)
    {
        var path = Path.Combine(folder, FileName);
        using var file = new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.Read | FileShare.Delete, 64 << 10);
        if (file.Length % KeyBytes != 0 || file.Length / KeyBytes > MaxKeys)
            throw new IOException($"{path} is damaged");
        var key = new byte[KeyBytes];
        var last = UInt128.Zero;
        for (var left = file.Length / KeyBytes; left > 0; left--)
        {
            file.ReadExactly(key);
            var next = BinaryPrimitives.ReadUInt128BigEndian(key);
            if (next <= last)
                throw new IOException($"{path} is damaged");
            yield return last = next;
        }
    }
}
