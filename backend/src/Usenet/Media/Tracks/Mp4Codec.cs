namespace Sluice.Usenet.Media.Tracks;

/// <summary>Translates sample entry codes of MP4 and QuickTime and their setup boxes. Pure.</summary>
internal static class Mp4Codec
{
    /// <summary>Returns the video codec for a sample entry's code and inner boxes.</summary>
    public static CodecWord OfPicture(string code, ReadOnlySpan<byte> inner) => code switch
    {
        "avc1" or "avc2" or "avc3" or "avc4" => PictureSetup.Avc(code, Mp4Boxes.Find(inner, "avcC"u8)),
        "hvc1" or "hev1" => PictureSetup.Hevc(code, Mp4Boxes.Find(inner, "hvcC"u8)),
        "dvh1" or "dvhe" or "dva1" or "dvav" => PictureSetup.DolbyVision(code, Vision(inner)),
        "av01" => PictureSetup.Av1(Mp4Boxes.Find(inner, "av1C"u8)),
        "vp09" => PictureSetup.Vp9Box(Mp4Boxes.Find(inner, "vpcC"u8)),
        "vp08" => CodecWord.WebPicture("VP8", "vp8"),
        "mp4v" => OfDescriptor(Mp4Boxes.Find(inner, "esds"u8)) ?? PictureSetup.Mpeg4([]),
        "vc-1" => CodecWord.Picture("VC-1", "vc-1"),
        "jpeg" or "mjpa" or "mjpb" => new CodecWord("JPEG"),
        "png " => new CodecWord("PNG"),
        "apch" or "apcn" or "apcs" or "apco" or "ap4h" or "ap4x" => new CodecWord("ProRes"),
        _ => new CodecWord(code.Trim()),
    };

    public static CodecWord OfSound(string code, ReadOnlySpan<byte> inner) => code switch
    {
        // Look inside "wave" too, because QuickTime nests the description one box deeper.
        "mp4a" => OfDescriptor(Mp4Boxes.Find(inner, "esds"u8)) ?? OfDescriptor(Mp4Boxes.Find(Mp4Boxes.Find(inner, "wave"u8), "esds"u8)) ?? SoundSetup.Aac([]),
        "ac-3" => SoundSetup.Ac3(Mp4Boxes.Find(inner, "dac3"u8)),
        "ec-3" => SoundSetup.Eac3(Mp4Boxes.Find(inner, "dec3"u8)),
        "ac-4" => CodecWord.Sound("AC-4", "ac-4"),
        "dtsc" => CodecWord.Sound("DTS", code),
        "dtsh" => CodecWord.Sound("DTS-HD", code),
        "dtsl" => CodecWord.Sound("DTS-HD MA", code),
        "dtse" => CodecWord.Sound("DTS Express", code),
        "dtsx" => CodecWord.Sound("DTS:X", code),
        "mlpa" => CodecWord.Sound("TrueHD", code),
        "Opus" => CodecWord.Sound("Opus", "opus", OpusChannels(Mp4Boxes.Find(inner, "dOps"u8))),
        "fLaC" => CodecWord.Sound("FLAC", "flac"),
        "alac" => CodecWord.Sound("ALAC", "alac"),
        ".mp3" => CodecWord.Sound("MP3", "mp4a.6B"),
        "sowt" or "twos" or "lpcm" or "ipcm" or "in24" or "in32" or "fl32" or "raw " => new CodecWord("PCM"),
        _ => new CodecWord(code.Trim()),
    };

    private static ReadOnlySpan<byte> Vision(ReadOnlySpan<byte> inner)
    {
        var setup = Mp4Boxes.Find(inner, "dvcC"u8);
        return setup.IsEmpty ? Mp4Boxes.Find(inner, "dvvC"u8) : setup;
    }

    /// <summary><c>OpusSpecificBox</c>: version, then the channels.</summary>
    private static int? OpusChannels(ReadOnlySpan<byte> setup) => setup.Length > 1 && setup[1] > 0 ? setup[1] : null;

    /// <summary>
    /// Reads <c>esds</c> (ISO/IEC 14496-1 section 7.2.6): an <c>ES_Descriptor</c> (3) with a <c>DecoderConfigDescriptor</c> (4) with a
    /// <c>DecoderSpecificInfo</c> (5), each with its length in groups of seven bits.
    /// </summary>
    private static CodecWord? OfDescriptor(ReadOnlySpan<byte> box)
    {
        if (box.Length < 4)
            return null;
        var stream = Descriptor(box[4..], 3);
        if (stream.Length < 3)
            return null;
        var flags = stream[2];
        var skipped = 3 + ((flags & 0x80) != 0 ? 2 : 0);
        if ((flags & 0x40) != 0 && skipped < stream.Length)
            skipped += 1 + stream[skipped];
        skipped += (flags & 0x20) != 0 ? 2 : 0;
        if (skipped >= stream.Length)
            return null;
        var decoder = Descriptor(stream[skipped..], 4);
        return decoder.Length < 13 ? null : SoundSetup.OfObject(decoder[0], Descriptor(decoder[13..], 5));
    }

    private static ReadOnlySpan<byte> Descriptor(ReadOnlySpan<byte> bytes, byte tag)
    {
        if (bytes.IsEmpty || bytes[0] != tag)
            return [];
        var (length, at) = (0, 1);
        while (at < bytes.Length && at <= 4)
        {
            var group = bytes[at++];
            length = (length << 7) | (group & 127);
            if ((group & 128) == 0)
                return length <= bytes.Length - at ? bytes.Slice(at, length) : [];
        }

        return [];
    }
}
