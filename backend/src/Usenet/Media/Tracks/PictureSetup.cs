using System.Buffers.Binary;
using System.Globalization;
using System.Text;

namespace Sluice.Usenet.Media.Tracks;

/// <summary>Parses video codec setups, shared by MP4 and Matroska, into profile, level and depth for RFC 6381. Pure.</summary>
internal static class PictureSetup
{
    /// <summary><c>AVCDecoderConfigurationRecord</c>, ISO/IEC 14496-15 section 5.3.3.1: version, profile, compatibility, level.</summary>
    public static CodecWord Avc(string code, ReadOnlySpan<byte> setup)
    {
        if (setup.Length < 4 || setup[0] != 1)
            return CodecWord.Picture("H.264", code);
        var name = setup[1] switch
        {
            110 => "H.264 10-bit",
            122 => "H.264 4:2:2 10-bit",
            244 => "H.264 4:4:4",
            _ => "H.264",
        };
        return CodecWord.Picture(name, $"{code}.{Convert.ToHexString(setup.Slice(1, 3))}");
    }

    /// <summary><c>HEVCDecoderConfigurationRecord</c>, ISO/IEC 14496-15 section 8.3.3.1; codec string by annex E.3.</summary>
    public static CodecWord Hevc(string code, ReadOnlySpan<byte> setup)
    {
        if (setup.Length < 18 || setup[0] > 1)
            return CodecWord.Picture("HEVC", code);
        var depth = (setup[17] & 7) + 8;
        var word = new StringBuilder(code).Append('.');
        if (setup[1] >> 6 is > 0 and var space)
            word.Append((char)('A' + space - 1));
        word.Append(CultureInfo.InvariantCulture, $"{setup[1] & 31}.{Reversed(BinaryPrimitives.ReadUInt32BigEndian(setup[2..])):X}");
        word.Append(CultureInfo.InvariantCulture, $".{((setup[1] & 0x20) == 0 ? 'L' : 'H')}{setup[12]}");
        foreach (var constraint in setup.Slice(6, 6).TrimEnd((byte)0))
            word.Append(CultureInfo.InvariantCulture, $".{constraint:X}");
        return CodecWord.Picture(depth > 8 ? string.Create(CultureInfo.InvariantCulture, $"HEVC {depth}-bit") : "HEVC", word.ToString());
    }

    /// <summary><c>AV1CodecConfigurationRecord</c>, AV1 in ISO base media section 2.3.3.</summary>
    public static CodecWord Av1(ReadOnlySpan<byte> setup)
    {
        if (setup.Length < 4 || setup[0] != 0x81)
            return CodecWord.Picture("AV1", "av01");
        var depth = (setup[2] & 0x40) == 0 ? 8 : (setup[2] & 0x20) == 0 ? 10 : 12;
        var word = string.Create(
            CultureInfo.InvariantCulture, $"av01.{setup[1] >> 5}.{setup[1] & 31:00}{((setup[2] & 0x80) == 0 ? 'M' : 'H')}.{depth:00}");
        return CodecWord.Picture(depth > 8 ? string.Create(CultureInfo.InvariantCulture, $"AV1 {depth}-bit") : "AV1", word);
    }

    /// <summary><c>VPCodecConfigurationBox</c> of MP4: version and flags, profile, level, depth in the high half of a byte.</summary>
    public static CodecWord Vp9Box(ReadOnlySpan<byte> setup) => setup.Length < 7 ? CodecWord.WebPicture("VP9", "vp9") : Vp9(setup[4], setup[5], setup[6] >> 4);

    /// <summary>VP9 in WebM: features as <c>id, length, value</c>; 1 is the profile, 2 the level, 3 the depth.</summary>
    public static CodecWord Vp9Features(ReadOnlySpan<byte> setup)
    {
        Span<byte> values = [0, 0, 10, 8];
        var isKnown = false;
        while (setup.Length >= 3 && setup[1] == 1)
        {
            if (setup[0] is > 0 and < 4)
                (values[setup[0]], isKnown) = (setup[2], true);
            setup = setup[3..];
        }

        return isKnown ? Vp9(values[1], values[2], values[3]) : CodecWord.WebPicture("VP9", "vp9");
    }

    /// <summary>MPEG-4 Visual: the profile follows the start code of the sequence (ISO/IEC 14496-2 section 6.2.2).</summary>
    public static CodecWord Mpeg4(ReadOnlySpan<byte> setup)
    {
        var start = setup.IndexOf((ReadOnlySpan<byte>)[0, 0, 1, 0xB0]);
        var profile = start >= 0 && setup.Length > start + 4 ? setup[start + 4] : 9;
        return CodecWord.Picture("MPEG-4 Visual", string.Create(CultureInfo.InvariantCulture, $"mp4v.20.{profile}"));
    }

    /// <summary>Dolby Vision (<c>dvcC</c>): two bytes of version, then profile in seven bits and level in six.</summary>
    public static CodecWord DolbyVision(string code, ReadOnlySpan<byte> setup) => setup.Length < 4
        ? CodecWord.Picture("Dolby Vision", code)
        : CodecWord.Picture(
            "Dolby Vision", string.Create(CultureInfo.InvariantCulture, $"{code}.{setup[2] >> 1:00}.{((setup[2] & 1) << 5) | (setup[3] >> 3):00}"));

    private static CodecWord Vp9(int profile, int level, int depth) => CodecWord.WebPicture(
        depth > 8 ? string.Create(CultureInfo.InvariantCulture, $"VP9 {depth}-bit") : "VP9",
        string.Create(CultureInfo.InvariantCulture, $"vp09.{profile:00}.{level:00}.{depth:00}"));

    private static uint Reversed(uint bits)
    {
        var reversed = 0U;
        for (var i = 0; i < 32; i++)
            reversed |= ((bits >> i) & 1) << (31 - i);
        return reversed;
    }
}
