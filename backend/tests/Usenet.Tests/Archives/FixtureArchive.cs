using System.Security.Cryptography;
using SharpCompress.Archives;
using SharpCompress.Readers;
using Sluice.Testing;
using Sluice.Usenet.Archives;
using Sluice.Usenet.Streams.Maps;
using Xunit;

namespace Sluice.Usenet.Tests.Archives;

/// <summary>An archive of <c>Fixtures</c>, made by widely used programs, and its files.</summary>
internal static class FixtureArchive
{
    private const string Folder = "backend/tests/Usenet.Tests/Archives/Fixtures";

    /// <summary>Returns the bytes of an archive, such as <c>7z/hidden.7z</c>.</summary>
    public static byte[] Read(string name) => File.ReadAllBytes(Repository.PathOf($"{Folder}/{name}"));

    /// <summary>Returns the names of all archives in a folder.</summary>
    public static IEnumerable<string> NamesIn(string folder) =>
        Directory.EnumerateFiles(Repository.PathOf($"{Folder}/{folder}")).Select(path => $"{folder}/{Path.GetFileName(path)}")
            .Where(name => !name.EndsWith(".sh", StringComparison.Ordinal)).Order(StringComparer.Ordinal);

    /// <summary>Returns the content that <c>source.py</c> gave a file.</summary>
    public static byte[] Source(string path) => Path.GetFileName(path) switch
    {
        "film.mkv" => Noise(5003),
        "film.nfo" => Noise(37),
        "film.srt" => Text(1009),
        "über.srt" => Text(211),
        "long.mkv" => Noise(150_001),
        var name => throw new ArgumentException($"{name} is no source."),
    };

    /// <summary>Returns bytes that differ from offset to offset, so that misplaced bytes show.</summary>
    public static byte[] Noise(int length) => [.. Enumerable.Range(0, length).Select(i => (byte)((uint)((i + length) * 2654435761L) >> 24))];

    /// <summary>Returns the files that SharpCompress finds in an archive, by path.</summary>
    public static IReadOnlyDictionary<string, byte[]> Foreign(byte[] archive, string? password = null)
    {
        using var opened = ArchiveFactory.OpenArchive(new MemoryStream(archive), ReaderOptions.ForEncryptedArchive(password));
        var files = new Dictionary<string, byte[]>();
        foreach (var entry in opened.Entries.Where(entry => !entry.IsDirectory && entry.Size > 0))
        {
            using var stream = entry.OpenEntryStream();
            using var bytes = new MemoryStream();
            stream.CopyTo(bytes);
            files.Add(entry.Key!.Replace('\\', '/'), bytes.ToArray());
        }

        return files;
    }

    /// <summary>Returns the decrypted bytes of an entry, from its extents in volume 0.</summary>
    public static byte[] Bytes(ArchiveEntry entry, byte[] archive, StreamCipher? cipher = null)
    {
        Assert.Null(entry.Method);
        var text = entry.Extents.SelectMany(extent => archive.AsSpan((int)extent.Offset, (int)extent.Length).ToArray()).ToArray();
        return (cipher ?? entry.Cipher) is { } known ? Decrypt(text, known, entry.Length) : text;
    }

    private static byte[] Decrypt(byte[] text, StreamCipher cipher, long length)
    {
        using var aes = Aes.Create();
        aes.Key = cipher.Key.ToArray();
        return aes.DecryptCbc(text, cipher.Iv.Span, PaddingMode.None)[cipher.Skip..(cipher.Skip + (int)length)];
    }

    private static byte[] Text(int length)
    {
        var line = "00:00:01,000 --> 00:00:02,000\nA line that packs well.\n"u8.ToArray();
        return [.. Enumerable.Range(0, length).Select(i => line[i % line.Length])];
    }
}

/// <summary>An archive in memory that counts reads.</summary>
internal sealed class FixtureInput(byte[] bytes) : IArchiveInput
{
    private int _reads;
    private long _bytesRead;

    public long Length => bytes.Length;

    public int Reads => _reads;

    public long BytesRead => _bytesRead;

    public ValueTask ReadAsync(long offset, Memory<byte> buffer, CancellationToken cancellationToken)
    {
        Interlocked.Increment(ref _reads);
        Interlocked.Add(ref _bytesRead, buffer.Length);
        bytes.AsMemory((int)offset, buffer.Length).CopyTo(buffer);
        return ValueTask.CompletedTask;
    }
}
