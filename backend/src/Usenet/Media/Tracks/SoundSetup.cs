using System.Globalization;
using System.Numerics;

namespace Sluice.Usenet.Media.Tracks;

/// <summary>Parses audio codec setups, shared by MP4 and Matroska. Pure.</summary>
internal static class SoundSetup
{
    // Full-bandwidth channels by acmod (ETSI TS 102 366 table 4.3).
    private static ReadOnlySpan<byte> Ac3Channels => [2, 1, 2, 3, 3, 4, 4, 5];

    /// <summary><c>AudioSpecificConfig</c>, ISO/IEC 14496-3 section 1.6.2.1: five bits of type, four of frequency, four of channels.</summary>
    public static CodecWord Aac(ReadOnlySpan<byte> setup)
    {
        if (setup.Length < 2)
            return CodecWord.Sound("AAC", "mp4a.40.2");
        var bits = new BitReader(setup);
        var type = bits.Read(5);
        if (type == 31)
            type = 32 + bits.Read(6);
        if (bits.Read(4) == 15)
            bits.Read(24);
        var name = type switch
        {
            5 => "HE-AAC",
            29 => "HE-AAC v2",
            42 => "xHE-AAC",
            _ => "AAC",
        };
        // 7 means eight channels. The layouts of higher values are not supported.
        int? channels = bits.Read(4) switch
        {
            >= 1 and <= 6 and var few => few,
            7 => 8,
            _ => null,
        };
        return CodecWord.Sound(name, string.Create(CultureInfo.InvariantCulture, $"mp4a.40.{(type == 0 ? 2 : type)}"), channels);
    }

    /// <summary><c>AC3SpecificBox</c>, ETSI TS 102 366 annex F.4.</summary>
    public static CodecWord Ac3(ReadOnlySpan<byte> setup)
    {
        if (setup.Length < 3)
            return CodecWord.Sound("AC-3", "ac-3");
        var bits = new BitReader(setup);
        bits.Read(2 + 5 + 3);
        return CodecWord.Sound("AC-3", "ac-3", Ac3Channels[bits.Read(3)] + bits.Read(1));
    }

    /// <summary><c>EC3SpecificBox</c>, ETSI TS 102 366 annex F.6: the channels of the first stream and its dependent streams.</summary>
    public static CodecWord Eac3(ReadOnlySpan<byte> setup)
    {
        if (setup.Length < 5)
            return CodecWord.Sound("E-AC-3", "ec-3");
        var bits = new BitReader(setup);
        bits.Read(13 + 3);
        bits.Read(2 + 5 + 1 + 1 + 3);
        var channels = Ac3Channels[bits.Read(3)] + bits.Read(1);
        bits.Read(3);
        if (bits.Read(4) > 0)
        {
            // Nine channel locations, counted from the lowest bit; the mask selects the pairs (table F.6.1).
            var places = (uint)bits.Read(9);
            channels += BitOperations.PopCount(places) + BitOperations.PopCount(places & 0b0_0111_0011);
        }

        return CodecWord.Sound("E-AC-3", "ec-3", channels);
    }

    /// <summary>Object types of an <c>ES_Descriptor</c> (ISO/IEC 14496-1 section 7.2.6.6) and their setups.</summary>
    public static CodecWord OfObject(int type, ReadOnlySpan<byte> setup) => type switch
    {
        0x20 => PictureSetup.Mpeg4(setup),
        0x40 => Aac(setup),
        >= 0x60 and <= 0x65 => CodecWord.Picture("MPEG-2", string.Create(CultureInfo.InvariantCulture, $"mp4v.{type:X2}")),
        >= 0x66 and <= 0x68 => CodecWord.Sound("AAC", string.Create(CultureInfo.InvariantCulture, $"mp4a.{type:X2}")),
        0x69 or 0x6B => CodecWord.Sound("MP3", string.Create(CultureInfo.InvariantCulture, $"mp4a.{type:X2}")),
        0x6A => CodecWord.Picture("MPEG-1", "mp4v.6A"),
        0xA5 => CodecWord.Sound("AC-3", "ac-3"),
        0xA6 => CodecWord.Sound("E-AC-3", "ec-3"),
        0xA9 => CodecWord.Sound("DTS", "dtsc"),
        0xAD => CodecWord.Sound("Opus", "opus"),
        0xDD => CodecWord.WebSound("Vorbis", "vorbis"),
        _ => new CodecWord(string.Create(CultureInfo.InvariantCulture, $"object type {type:X2}")),
    };
}

/// <summary>Reads bits of a span, highest first. Bits past the end are 0, so that short setups need no checks.</summary>
internal ref struct BitReader(ReadOnlySpan<byte> bytes)
{
    private readonly ReadOnlySpan<byte> _bytes = bytes;
    private int _place;

    /// <summary>Reads up to 31 bits.</summary>
    public int Read(int count)
    {
        var number = 0;
        for (; count > 0; count--, _place++)
        {
            var at = _place >> 3;
            number = (number << 1) | (at < _bytes.Length ? (_bytes[at] >> (7 - (_place & 7))) & 1 : 0);
        }

        return number;
    }
}
