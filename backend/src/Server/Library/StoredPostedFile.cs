using Sluice.Usenet.Archives;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;

namespace Sluice.Server.Library;

/// <summary>A posted file in the library, with segment offsets and message-id positions.</summary>
/// <param name="Ordinal">Number in its release, 0-based.</param>
/// <param name="Habit">Header fields known to be in its articles.</param>
internal sealed record StoredPostedFile(int Ordinal, SegmentPlaces Places, SegmentMap Map, ArticleHabit Habit = default)
{
    /// <summary>Predicted position of the volume's archive data; the map is then predicted too. Null if its headers were read (IMP-52).</summary>
    public PredictedVolume? Predicted { get; init; }

    /// <summary>Whether the length and offsets come from an old server and no import has verified them (IMP-32).</summary>
    public bool IsEstimate { get; init; }
}

/// <summary>Serializes predictions for the database.</summary>
internal static class StoredPrediction
{
    private const byte Version = 1;

    /// <summary>Serializes a prediction without the posted file's number, which is in the row. Equal predictions yield equal bytes.</summary>
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

    /// <summary>Parses the output of <see cref="Pack"/>.</summary>
    /// <exception cref="InvalidDataException">The bytes are damaged or of an unknown version.</exception>
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

internal sealed record PostedFileRow
{
    public long Ordinal { get; init; }
    public required byte[] Places { get; init; }
    public required byte[] Map { get; init; }
    public long Habit { get; init; }
    public byte[]? Predicted { get; init; }
    public long Estimated { get; init; }

    public StoredPostedFile Read() => new((int)Ordinal, SegmentPlaces.Unpack(Places), SegmentMap.Unpack(Map), ArticleHabit.Unpack(Habit))
    {
        Predicted = Predicted is { } packed ? StoredPrediction.Unpack((int)Ordinal, packed) : null,
        IsEstimate = Estimated != 0,
    };
}
