using System.Security.Cryptography;
using Sluice.Testing;
using Sluice.Usenet.Archives;

namespace Sluice.Usenet.Tests.Archives;

/// <summary>Archives written by rar itself: <c>Fixtures/rar</c>, made by the script there.</summary>
internal static class RarFixture
{
    private static readonly string Folder = Repository.PathOf("backend/tests/Usenet.Tests/Archives/Fixtures/rar");

    /// <summary>Names of all sets.</summary>
    public static IReadOnlyList<string> Names { get; } =
        [.. Directory.GetFiles(Folder, "*.tar").Select(path => Path.GetFileNameWithoutExtension(path)).Order(StringComparer.Ordinal)];

    /// <summary>Returns the volumes of a set in order.</summary>
    public static IReadOnlyList<byte[]> Volumes(string name)
    {
        var volumes = new List<(string Name, byte[] Bytes)>();
        using var tar = new System.Formats.Tar.TarReader(File.OpenRead(Path.Combine(Folder, name + ".tar")));
        while (tar.GetNextEntry() is { } entry)
        {
            if (entry.DataStream is not { } stream)
                continue;
            var bytes = new byte[stream.Length];
            stream.ReadExactly(bytes);
            volumes.Add((Path.GetFileName(entry.Name), bytes));
        }

        return [.. volumes.OrderBy(volume => volume.Name.EndsWith(".rar", StringComparison.Ordinal) ? 0 : 1)
            .ThenBy(volume => volume.Name, StringComparer.Ordinal).Select(volume => volume.Bytes)];
    }

    /// <summary>Returns the SHA-256 of a packed file in hexadecimal digits, by the end of its path at packing.</summary>
    public static string HashOf(string path) =>
        File.ReadLines(Path.Combine(Folder, "SHA256SUMS")).Select(line => line.Split("  ", 2))
            .First(line => line[1] == path || line[1].EndsWith("/" + path, StringComparison.Ordinal))[0];

    /// <summary>Returns the decrypted bytes of a stored entry.</summary>
    public static byte[] Extract(IReadOnlyList<byte[]> volumes, ArchiveEntry entry)
    {
        var bytes = entry.Extents.SelectMany(extent => volumes[extent.Volume].AsSpan((int)extent.Offset, (int)extent.Length).ToArray()).ToArray();
        if (entry.Cipher is { } cipher)
        {
            using var aes = Aes.Create();
            aes.SetKey(cipher.Key.Span);
            bytes = aes.DecryptCbc(bytes, cipher.Iv.Span, PaddingMode.None);
        }

        return bytes[..(int)entry.Length];
    }

    /// <summary>Returns the SHA-256 of a stored entry in hexadecimal digits.</summary>
    public static string HashOf(IReadOnlyList<byte[]> volumes, ArchiveEntry entry) =>
        Convert.ToHexStringLower(SHA256.HashData(Extract(volumes, entry)));
}
