using Sluice.Usenet.Streams.Maps;

namespace Sluice.Server.Library;

/// <summary>A byte range of a posted file.</summary>
/// <param name="PostedFile">Number of the posted file in its release, 0-based.</param>
/// <param name="Offset">First byte.</param>
/// <param name="Length">Number of bytes.</param>
internal readonly record struct ContentExtent(int PostedFile, long Offset, long Length);

/// <summary>The content of a library file.</summary>
/// <param name="Extents">Byte ranges of posted files, in order. An encrypted file has up to 15 bytes of padding at the end.</param>
internal sealed record FileContent(IReadOnlyList<ContentExtent> Extents)
{
    /// <summary>The content of a file whose release has not been opened yet (IMP-36).</summary>
    public static FileContent Unopened { get; } = new([]);

    /// <summary>Decrypts the concatenated extents; null if the file is unencrypted.</summary>
    public StreamCipher? Cipher { get; init; }

    /// <summary>Whether the byte ranges are still unknown. Empty files are never published, so no ranges always means unknown.</summary>
    public bool IsUnopened => Extents.Count == 0;
}

/// <summary>Serializes <see cref="FileContent"/> for the database.</summary>
/// <remarks>Version 2, for encrypted files, adds how many bytes to skip, a key (16 or 32 bytes) and an IV (16 bytes). It never stores a password.</remarks>
internal static class ContentMap
{
    private const byte Plain = 1;
    private const byte Encrypted = 2;

    private const int VectorBytes = StreamCipher.BlockLength;

    // The ciphertext may start one block early, and the file may start inside the next block.
    private const int MaxSkip = (2 * StreamCipher.BlockLength) - 1;

    // Minimum bytes of a serialized extent: three numbers of at least one byte each.
    private const int LeastExtent = 3;

    /// <summary>Serializes file content. Equal contents yield equal bytes.</summary>
    public static byte[] Pack(FileContent content)
    {
        var packed = new MemoryStream(2 + (8 * content.Extents.Count));
        using var writer = new BinaryWriter(packed);
        writer.Write(content.Cipher is null ? Plain : Encrypted);
        writer.Write7BitEncodedInt(content.Extents.Count);
        foreach (var extent in content.Extents)
        {
            writer.Write7BitEncodedInt(extent.PostedFile);
            writer.Write7BitEncodedInt64(extent.Offset);
            writer.Write7BitEncodedInt64(extent.Length);
        }

        if (content.Cipher is { } cipher)
        {
            writer.Write((byte)cipher.Skip);
            writer.Write((byte)cipher.Key.Length);
            writer.Write(cipher.Key.Span);
            writer.Write(cipher.Iv.Span);
        }

        writer.Flush();
        return packed.ToArray();
    }

    /// <summary>Parses the output of <see cref="Pack"/>, including older versions.</summary>
    /// <exception cref="InvalidDataException">The bytes are damaged or of an unknown version.</exception>
    public static FileContent Unpack(ReadOnlyMemory<byte> packed)
    {
        try
        {
            using var reader = new BinaryReader(new MemoryStream(packed.ToArray(), writable: false));
            return reader.ReadByte() switch
            {
                Plain => new FileContent(ReadExtents(reader)),
                Encrypted => new FileContent(ReadExtents(reader)) { Cipher = ReadCipher(reader) },
                _ => throw new InvalidDataException("The content map is of an unknown version."),
            };
        }
        catch (Exception e) when (e is EndOfStreamException or FormatException)
        {
            throw new InvalidDataException("The content map is damaged.", e);
        }
    }

    private static ContentExtent[] ReadExtents(BinaryReader reader)
    {
        var count = reader.Read7BitEncodedInt();
        if (count < 0 || count > (reader.BaseStream.Length - reader.BaseStream.Position) / LeastExtent)
            throw new InvalidDataException("The content map is cut short.");

        var extents = new ContentExtent[count];
        for (var i = 0; i < count; i++)
        {
            extents[i] = new ContentExtent(reader.Read7BitEncodedInt(), reader.Read7BitEncodedInt64(), reader.Read7BitEncodedInt64());
            if (extents[i].PostedFile < 0 || extents[i].Offset < 0 || extents[i].Length < 0)
                throw new InvalidDataException("The content map holds a negative number.");
        }

        return extents;
    }

    private static StreamCipher ReadCipher(BinaryReader reader)
    {
        var (skip, length) = (reader.ReadByte(), reader.ReadByte());
        if (skip > MaxSkip || length is not (16 or 32))
            throw new InvalidDataException("The content map holds a key of an impossible length.");
        return new StreamCipher(ReadBytes(reader, length), ReadBytes(reader, VectorBytes)) { Skip = skip };
    }

    private static byte[] ReadBytes(BinaryReader reader, int count) =>
        reader.ReadBytes(count) is var bytes && bytes.Length == count ? bytes : throw new EndOfStreamException();
}
