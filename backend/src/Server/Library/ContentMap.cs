namespace Sluice.Server.Library;

/// <summary>A stretch of a posted file.</summary>
/// <param name="PostedFile">Number of the posted file in its release, 0-based.</param>
/// <param name="Offset">First byte in the posted file.</param>
/// <param name="Length">Bytes.</param>
internal readonly record struct ContentExtent(int PostedFile, long Offset, long Length);

/// <summary>The extents that a library file is made of, in order, and their form in the database.</summary>
internal static class ContentMap
{
    private const byte Version = 1;

    // Three numbers of at least one byte each.
    private const int LeastExtent = 3;

    /// <summary>Packs extents; equal extents give equal bytes.</summary>
    public static byte[] Pack(IReadOnlyList<ContentExtent> extents)
    {
        var packed = new MemoryStream(2 + 8 * extents.Count);
        using var writer = new BinaryWriter(packed);
        writer.Write(Version);
        writer.Write7BitEncodedInt(extents.Count);
        foreach (var extent in extents)
        {
            writer.Write7BitEncodedInt(extent.PostedFile);
            writer.Write7BitEncodedInt64(extent.Offset);
            writer.Write7BitEncodedInt64(extent.Length);
        }

        writer.Flush();
        return packed.ToArray();
    }

    /// <summary>Reads what <see cref="Pack"/> wrote.</summary>
    /// <exception cref="InvalidDataException">The bytes are damaged or of another version.</exception>
    public static IReadOnlyList<ContentExtent> Unpack(ReadOnlyMemory<byte> packed)
    {
        try
        {
            using var reader = new BinaryReader(new MemoryStream(packed.ToArray(), writable: false));
            if (reader.ReadByte() != Version)
                throw new InvalidDataException("The content map is of an unknown version.");

            var count = reader.Read7BitEncodedInt();
            if (count < 0 || count > (packed.Length - reader.BaseStream.Position) / LeastExtent)
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
        catch (Exception e) when (e is EndOfStreamException or FormatException)
        {
            throw new InvalidDataException("The content map is damaged.", e);
        }
    }
}
