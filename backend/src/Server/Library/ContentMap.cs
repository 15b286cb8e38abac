using Sluice.Usenet.Streams.Maps;

namespace Sluice.Server.Library;

/// <summary>A stretch of a posted file.</summary>
/// <param name="PostedFile">Number of the posted file in its release, 0-based.</param>
/// <param name="Offset">First byte in the posted file.</param>
/// <param name="Length">Bytes.</param>
internal readonly record struct ContentExtent(int PostedFile, long Offset, long Length);

/// <summary>What a library file is made of.</summary>
/// <param name="Extents">Where its bytes lie, in order; of an encrypted file up to 15 bytes more than it has.</param>
internal sealed record FileContent(IReadOnlyList<ContentExtent> Extents)
{
    /// <summary>What decrypts the bytes of all extents as one text; null where nothing does.</summary>
    public StreamCipher? Cipher { get; init; }
}

/// <summary>The form of a <see cref="FileContent"/> in the database.</summary>
/// <remarks>
/// Version 1 has the extents alone. Version 2, of encrypted files, has behind them how many bytes of the text come before the file, a key of 16
/// or 32 bytes and an initial vector of 16. Neither ever holds a password.
/// </remarks>
internal static class ContentMap
{
    private const byte Plain = 1;
    private const byte Encrypted = 2;

    private const int VectorBytes = StreamCipher.BlockLength;

    // A text that begins one block early, and a file that begins inside the next one.
    private const int MaxSkip = (2 * StreamCipher.BlockLength) - 1;

    // Three numbers of at least one byte each.
    private const int LeastExtent = 3;

    /// <summary>Packs a content; equal contents give equal bytes.</summary>
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

    /// <summary>Reads what <see cref="Pack"/> wrote, now or in an earlier version.</summary>
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
