namespace Sluice.Usenet.Media.Tracks;

/// <summary>Translates Matroska codec ids (RFC 9559 section 5.1.4.1.21 and its registry). Pure.</summary>
internal static class MatroskaCodec
{
    /// <summary>Returns the video codec for an id and its <c>CodecPrivate</c>.</summary>
    public static CodecWord OfPicture(string id, ReadOnlySpan<byte> setup) => id switch
    {
        "V_MPEG4/ISO/AVC" => PictureSetup.Avc("avc1", setup),
        "V_MPEGH/ISO/HEVC" => PictureSetup.Hevc("hvc1", setup),
        "V_AV1" => PictureSetup.Av1(setup),
        "V_VP9" => PictureSetup.Vp9Features(setup),
        "V_VP8" => CodecWord.WebPicture("VP8", "vp8"),
        "V_MPEG4/ISO/SP" or "V_MPEG4/ISO/ASP" or "V_MPEG4/ISO/AP" => PictureSetup.Mpeg4(setup),
        "V_MPEG2" => CodecWord.Picture("MPEG-2", "mp4v.61"),
        "V_MPEG1" => CodecWord.Picture("MPEG-1", "mp4v.6A"),
        "V_THEORA" => new CodecWord("Theora", "video/ogg; codecs=\"theora\""),
        "V_MS/VFW/FOURCC" => OfBitmap(setup),
        "V_FFV1" => new CodecWord("FFV1"),
        "V_PRORES" => new CodecWord("ProRes"),
        _ => new CodecWord(Bare(id)),
    };

    public static CodecWord OfSound(string id, ReadOnlySpan<byte> setup) => id switch
    {
        "A_AC3" or "A_AC3/BSID9" or "A_AC3/BSID10" => CodecWord.Sound("AC-3", "ac-3"),
        "A_EAC3" => CodecWord.Sound("E-AC-3", "ec-3"),
        "A_DTS" => CodecWord.Sound("DTS", "dtsc"),
        "A_DTS/EXPRESS" => CodecWord.Sound("DTS Express", "dtse"),
        "A_DTS/LOSSLESS" => CodecWord.Sound("DTS-HD MA", "dtsl"),
        "A_TRUEHD" or "A_MLP" => CodecWord.Sound("TrueHD", "mlpa"),
        "A_FLAC" => CodecWord.Sound("FLAC", "flac"),
        "A_OPUS" => CodecWord.WebSound("Opus", "opus"),
        "A_VORBIS" => CodecWord.WebSound("Vorbis", "vorbis"),
        "A_AAC" => SoundSetup.Aac(setup),
        "A_MPEG/L3" => CodecWord.Sound("MP3", "mp4a.6B"),
        "A_MPEG/L2" => CodecWord.Sound("MP2", "mp4a.6B"),
        "A_ALAC" => CodecWord.Sound("ALAC", "alac"),
        "A_PCM/INT/LIT" or "A_PCM/INT/BIG" or "A_PCM/FLOAT/IEEE" => new CodecWord("PCM"),
        _ when id.StartsWith("A_AAC/", StringComparison.Ordinal) => OfOldAac(id),
        _ => new CodecWord(Bare(id)),
    };

    public static string OfText(string id) => id switch
    {
        "S_TEXT/UTF8" or "S_TEXT/ASCII" => "SubRip",
        "S_TEXT/ASS" or "S_ASS" => "ASS",
        "S_TEXT/SSA" or "S_SSA" => "SSA",
        "S_TEXT/WEBVTT" or "D_WEBVTT/SUBTITLES" => "WebVTT",
        "S_HDMV/PGS" => "PGS",
        "S_HDMV/TEXTST" => "HDMV text",
        "S_VOBSUB" => "VobSub",
        "S_DVBSUB" => "DVB subtitles",
        _ => Bare(id),
    };

    /// <summary>Returns the format of subtitles whose text can be read; null for any other.</summary>
    public static TextFormat? FormatOf(string id) => id switch
    {
        "S_TEXT/UTF8" or "S_TEXT/ASCII" => TextFormat.SubRip,
        "S_TEXT/ASS" or "S_ASS" or "S_TEXT/SSA" or "S_SSA" => TextFormat.SubStation,
        "S_TEXT/WEBVTT" => TextFormat.WebVtt,
        "D_WEBVTT/SUBTITLES" or "D_WEBVTT/CAPTIONS" => TextFormat.WebVttWithHead,
        _ => null,
    };

    public static bool IsPicture(string id) => id is "S_HDMV/PGS" or "S_VOBSUB" or "S_DVBSUB";

    /// <summary>Maps old ids that have no setup: <c>A_AAC/MPEG4/LC</c>, <c>A_AAC/MPEG2/LC/SBR</c>.</summary>
    private static CodecWord OfOldAac(string id) => id.EndsWith("/SBR", StringComparison.Ordinal)
        ? CodecWord.Sound("HE-AAC", "mp4a.40.5")
        : CodecWord.Sound("AAC", "mp4a.40.2");

    /// <summary>Reads the four-letter code at byte 16 of a Windows bitmap header.</summary>
    private static CodecWord OfBitmap(ReadOnlySpan<byte> setup)
    {
        if (setup.Length < 20)
            return new CodecWord("Windows video");
        var code = HeaderText.CodeOf(setup.Slice(16, 4));
        return code.ToUpperInvariant() switch
        {
            "XVID" or "DIVX" or "DX50" or "FMP4" or "MP4V" => CodecWord.Picture("MPEG-4 Visual", "mp4v.20.9"),
            "H264" or "AVC1" or "X264" => CodecWord.Picture("H.264", "avc1"),
            "WVC1" or "WMV3" => CodecWord.Picture("VC-1", "vc-1"),
            _ => new CodecWord(code),
        };
    }

    /// <summary>Returns the id without its prefix for the kind of track.</summary>
    private static string Bare(string id) => id.Length > 2 && id[1] == '_' ? id[2..] : id.Length > 0 ? id : "unknown";
}
