using Sluice.Usenet.Archives;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Server.Library;

/// <summary>A posted file as the library keeps it: its geometry, and where its message-ids stand in the release's list.</summary>
/// <param name="Ordinal">Number in its release, 0-based.</param>
/// <param name="Places">Where the ids of its segments are.</param>
/// <param name="Map">Where each segment begins and ends.</param>
/// <param name="Habit">What its articles carry, as far as known.</param>
internal sealed record StoredPostedFile(int Ordinal, SegmentPlaces Places, SegmentMap Map, ArticleHabit Habit = default)
{
    /// <summary>
    /// Where the data of its archive has to lie in it, where that was predicted and not read (IMP-52); its map is predicted too then. The
    /// number of the posted file in it is <see cref="Ordinal"/>.
    /// </summary>
    public PredictedVolume? Predicted { get; init; }
}

/// <summary>The form of a prediction in the database.</summary>
internal static class StoredPrediction
{
    private const byte Version = 1;

    /// <summary>Packs a prediction; equal ones give equal bytes. The number of the posted file is in its row.</summary>
    public static byte[] Pack(PredictedVolume volume)
    {
        var packed = new MemoryStream();
        using var writer = new BinaryWriter(packed);
        writer.Write(Version);
        writer.Write7BitEncodedInt64(volume.DataOffset);
        writer.Write7BitEncodedInt64(volume.DataLength);
        writer.Write7BitEncodedInt(volume.Set);
        writer.Write7BitEncodedInt(volume.Place);
        writer.Write(volume.Expected);
        writer.Flush();
        return packed.ToArray();
    }

    /// <summary>Reads what <see cref="Pack"/> wrote.</summary>
    /// <param name="ordinal">Number of the posted file.</param>
    /// <param name="packed">The bytes.</param>
    /// <exception cref="InvalidDataException">They are damaged or of another version.</exception>
    public static PredictedVolume Unpack(int ordinal, byte[] packed)
    {
        try
        {
            using var reader = new BinaryReader(new MemoryStream(packed, writable: false));
            if (reader.ReadByte() != Version)
                throw new InvalidDataException("The prediction is of an unknown version.");
            return new PredictedVolume(
                ordinal, reader.Read7BitEncodedInt64(), reader.Read7BitEncodedInt64(), reader.Read7BitEncodedInt(), reader.Read7BitEncodedInt(), reader.ReadString());
        }
        catch (Exception e) when (e is EndOfStreamException or FormatException)
        {
            throw new InvalidDataException("The prediction is damaged.", e);
        }
    }
}

/// <summary>A row of <c>posted_file</c>.</summary>
internal sealed record PostedFileRow
{
    public long Ordinal { get; init; }
    public required byte[] Places { get; init; }
    public required byte[] Map { get; init; }
    public long Habit { get; init; }
    public byte[]? Predicted { get; init; }

    public StoredPostedFile Read() => new((int)Ordinal, SegmentPlaces.Unpack(Places), SegmentMap.Unpack(Map), ArticleHabit.Unpack(Habit))
    {
        Predicted = Predicted is { } packed ? StoredPrediction.Unpack((int)Ordinal, packed) : null,
    };
}
