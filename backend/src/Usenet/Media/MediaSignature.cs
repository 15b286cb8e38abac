using System.Buffers.Binary;
using System.Collections.Frozen;

namespace Sluice.Usenet.Media;

/// <summary>Recognizes files by their magic bytes, and maps kinds to extensions and categories. Pure.</summary>
public static class MediaSignature
{
    /// <summary>Number of first bytes that suffice for everything except disc images.</summary>
    public const int SufficientLength = 1024;

    private const int DiscDescriptorOffset = 0x8001;

    // An extension maps to the kind that ranks it highest, because the usual extension of a kind comes first in its list.
    private static readonly FrozenDictionary<string, MediaKind> KindsByExtension = Enum.GetValues<MediaKind>()
        .SelectMany(kind => ExtensionsOf(kind).Select((extension, rank) => (extension, rank, kind)))
        .OrderBy(entry => entry.rank)
        .DistinctBy(entry => entry.extension)
        .ToFrozenDictionary(entry => entry.extension, entry => entry.kind, StringComparer.OrdinalIgnoreCase);

    /// <summary>Detects the kind of a file from its first bytes; <see cref="MediaKind.Unknown"/> if there are too few.</summary>
    public static MediaKind Recognise(ReadOnlySpan<byte> start)
    {
        var kind = ByMagic(start);
        if (kind == MediaKind.Unknown)
            kind = ByText(start);
        if (kind == MediaKind.Unknown)
            kind = ByStructure(start);
        return kind;
    }

    public static MediaCategory CategoryOf(MediaKind kind) => kind switch
    {
        MediaKind.Matroska or MediaKind.WebM or MediaKind.Mp4 or MediaKind.QuickTime or MediaKind.Avi or MediaKind.TransportStream
            or MediaKind.ProgramStream or MediaKind.Asf or MediaKind.FlashVideo or MediaKind.RealMedia => MediaCategory.Video,
        MediaKind.Mp3 or MediaKind.Flac or MediaKind.Ogg or MediaKind.Wave or MediaKind.Mp4Audio
            or MediaKind.Aiff or MediaKind.MonkeysAudio or MediaKind.WavPack or MediaKind.Dsd => MediaCategory.Audio,
        MediaKind.Rar4 or MediaKind.Rar5 or MediaKind.SevenZip or MediaKind.Zip or MediaKind.Gzip or MediaKind.Tar => MediaCategory.Archive,
        MediaKind.Par2 => MediaCategory.Par2,
        _ => MediaCategory.Other,
    };

    /// <summary>Returns the extensions of a kind, in lower case without a dot, most common first; empty if it has none.</summary>
    public static IReadOnlyList<string> ExtensionsOf(MediaKind kind) => kind switch
    {
        MediaKind.Matroska => ["mkv", "mka", "mks", "mk3d"],
        MediaKind.WebM => ["webm", "mkv"],
        MediaKind.Mp4 => ["mp4", "m4v", "mov", "m4a", "m4b", "3gp", "3g2", "f4v"],
        MediaKind.Mp4Audio => ["m4a", "m4b", "mp4"],
        MediaKind.QuickTime => ["mov", "qt", "mp4"],
        MediaKind.Avi => ["avi", "divx"],
        MediaKind.TransportStream => ["ts", "m2ts", "mts", "m2t", "tp", "trp"],
        MediaKind.ProgramStream => ["mpg", "mpeg", "vob", "m2v", "evo"],
        MediaKind.Asf => ["wmv", "wma", "asf"],
        MediaKind.FlashVideo => ["flv"],
        MediaKind.RealMedia => ["rm", "rmvb"],
        MediaKind.Mp3 => ["mp3"],
        MediaKind.Flac => ["flac"],
        MediaKind.Ogg => ["ogg", "ogv", "oga", "ogm", "opus"],
        MediaKind.Wave => ["wav"],
        MediaKind.Aiff => ["aiff", "aif"],
        MediaKind.MonkeysAudio => ["ape"],
        MediaKind.WavPack => ["wv"],
        MediaKind.Dsd => ["dsf"],
        MediaKind.SubRip => ["srt"],
        MediaKind.SubStation => ["ass", "ssa"],
        MediaKind.WebVtt => ["vtt"],
        MediaKind.Jpeg => ["jpg", "jpeg"],
        MediaKind.Png => ["png"],
        MediaKind.Gif => ["gif"],
        MediaKind.WebP => ["webp"],
        MediaKind.Rar4 or MediaKind.Rar5 => ["rar"],
        MediaKind.SevenZip => ["7z"],
        MediaKind.Zip => ["zip"],
        MediaKind.Gzip => ["gz"],
        MediaKind.Tar => ["tar"],
        MediaKind.Par2 => ["par2"],
        MediaKind.DiscImage => ["iso", "img"],
        MediaKind.Nzb => ["nzb"],
        MediaKind.Xml => ["xml"],
        _ => [],
    };

    /// <summary>Returns the usual media kind for an extension (without dot, any case). Used for files whose content is unknown.</summary>
    public static MediaKind KindOf(string extension)
    {
        ArgumentNullException.ThrowIfNull(extension);
        return KindsByExtension.GetValueOrDefault(extension);
    }

    private static MediaKind ByMagic(ReadOnlySpan<byte> start)
    {
        if (start.StartsWith((ReadOnlySpan<byte>)[0x1A, 0x45, 0xDF, 0xA3]))
            return start[..Math.Min(start.Length, 64)].IndexOf("webm"u8) >= 0 ? MediaKind.WebM : MediaKind.Matroska;
        if (start.StartsWith("Rar!\u001A\u0007\u0000"u8))
            return MediaKind.Rar4;
        if (start.StartsWith("Rar!\u001A\u0007\u0001\u0000"u8))
            return MediaKind.Rar5;
        if (start.StartsWith((ReadOnlySpan<byte>)[(byte)'7', (byte)'z', 0xBC, 0xAF, 0x27, 0x1C]))
            return MediaKind.SevenZip;
        if (start.StartsWith("PAR2\0PKT"u8))
            return MediaKind.Par2;
        if (start.StartsWith("PK\u0003\u0004"u8) || start.StartsWith("PK\u0005\u0006"u8) || start.StartsWith("PK\u0007\u0008"u8))
            return MediaKind.Zip;
        if (start.StartsWith((ReadOnlySpan<byte>)[0x1F, 0x8B, 0x08]))
            return MediaKind.Gzip;
        if (start.StartsWith((ReadOnlySpan<byte>)[0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11]))
            return MediaKind.Asf;
        if (start.StartsWith("FLV\u0001"u8))
            return MediaKind.FlashVideo;
        if (start.StartsWith("fLaC"u8))
            return MediaKind.Flac;
        if (start.StartsWith("OggS"u8))
            return MediaKind.Ogg;
        if (start.StartsWith("ID3"u8))
            return MediaKind.Mp3;
        if (start.StartsWith((ReadOnlySpan<byte>)[0xFF, 0xD8, 0xFF]))
            return MediaKind.Jpeg;
        if (start.StartsWith((ReadOnlySpan<byte>)[0x89, (byte)'P', (byte)'N', (byte)'G', 0x0D, 0x0A, 0x1A, 0x0A]))
            return MediaKind.Png;
        if (start.StartsWith("GIF87a"u8) || start.StartsWith("GIF89a"u8))
            return MediaKind.Gif;
        if (start.StartsWith((ReadOnlySpan<byte>)[0, 0, 1, 0xBA]) || start.StartsWith((ReadOnlySpan<byte>)[0, 0, 1, 0xB3]))
            return MediaKind.ProgramStream;
        return start.Length >= 12 ? ByChunk(start) : MediaKind.Unknown;
    }

    // Formats whose first four letters may also begin a text, so the next bytes decide.
    private static MediaKind ByChunk(ReadOnlySpan<byte> start)
    {
        if (start.StartsWith("RIFF"u8))
            return ByRiffType(start[8..12]);
        if (start.StartsWith("FORM"u8) && (start[8..12].SequenceEqual("AIFF"u8) || start[8..12].SequenceEqual("AIFC"u8)))
            return MediaKind.Aiff;
        if (start.StartsWith(".RMF\0\0\0"u8))
            return MediaKind.RealMedia;
        if (start.StartsWith("MAC "u8) && BinaryPrimitives.ReadUInt16LittleEndian(start[4..]) is >= 3800 and < 5000)
            return MediaKind.MonkeysAudio;
        if (start.StartsWith("DSD \u001C\0\0\0\0\0\0\0"u8))
            return MediaKind.Dsd;
        return start.StartsWith("wvpk"u8) && start[9] == 4 ? MediaKind.WavPack : MediaKind.Unknown;
    }

    private static MediaKind ByRiffType(ReadOnlySpan<byte> type)
    {
        if (type.SequenceEqual("AVI "u8))
            return MediaKind.Avi;
        if (type.SequenceEqual("WAVE"u8))
            return MediaKind.Wave;
        return type.SequenceEqual("WEBP"u8) ? MediaKind.WebP : MediaKind.Unknown;
    }

    private static MediaKind ByText(ReadOnlySpan<byte> start)
    {
        if (start.StartsWith((ReadOnlySpan<byte>)[0xEF, 0xBB, 0xBF]))
            start = start[3..];
        start = start.TrimStart(" \t\r\n"u8);
        if (start.StartsWith("WEBVTT"u8))
            return MediaKind.WebVtt;
        if (start.StartsWith("[Script Info]"u8))
            return MediaKind.SubStation;
        if (start.StartsWith("<nzb"u8) || (start.StartsWith("<?xml"u8) && start.IndexOf("<nzb"u8) > 0))
            return MediaKind.Nzb;
        if (start.StartsWith("<?xml"u8))
            return MediaKind.Xml;

        // SubRip: a number alone on its line, then "00:00:01,000 --> 00:00:02,000".
        var line = start.IndexOf((byte)'\n');
        return line is > 0 and < 12 && !start[..line].TrimEnd("\r "u8).ContainsAnyExceptInRange((byte)'0', (byte)'9')
            && start[line..Math.Min(start.Length, line + 40)].IndexOf(" --> "u8) > 0
            ? MediaKind.SubRip
            : MediaKind.Unknown;
    }

    private static MediaKind ByStructure(ReadOnlySpan<byte> start)
    {
        if (start.Length >= 12 && IsBox(start[4..8]))
            return ByBrand(start);
        if (IsTransportStream(start, 0, 188) || IsTransportStream(start, 4, 192))
            return MediaKind.TransportStream;
        if (start.Length >= 262 && start.Slice(257, 5).SequenceEqual("ustar"u8))
            return MediaKind.Tar;
        if (IsMp3(start))
            return MediaKind.Mp3;

        // ECMA-119 section 8.1.2 and ECMA-167 part 2 section 9.1.2.
        if (start.Length >= DiscDescriptorOffset + 5)
        {
            var descriptor = start.Slice(DiscDescriptorOffset, 5);
            if (descriptor.SequenceEqual("CD001"u8) || descriptor.SequenceEqual("BEA01"u8))
                return MediaKind.DiscImage;
        }

        return MediaKind.Unknown;
    }

    // Boxes that may begin a file (ISO/IEC 14496-12 section 4.2). Files older than "ftyp" begin with one of the others.
    private static bool IsBox(ReadOnlySpan<byte> type) =>
        type.SequenceEqual("ftyp"u8) || type.SequenceEqual("moov"u8) || type.SequenceEqual("mdat"u8) || type.SequenceEqual("wide"u8);

    private static MediaKind ByBrand(ReadOnlySpan<byte> start)
    {
        var brand = start[8..12];
        if (!start[4..8].SequenceEqual("ftyp"u8) || brand.SequenceEqual("qt  "u8))
            return MediaKind.QuickTime;
        return brand.SequenceEqual("M4A "u8) || brand.SequenceEqual("M4B "u8) ? MediaKind.Mp4Audio : MediaKind.Mp4;
    }

    // Four consecutive packets with the sync byte (ISO/IEC 13818-1 section 2.4.3.2).
    private static bool IsTransportStream(ReadOnlySpan<byte> start, int offset, int packet)
    {
        for (var i = 0; i < 4; i++)
        {
            var place = offset + i * packet;
            if (place >= start.Length || start[place] != 0x47)
                return false;
        }

        return true;
    }

    // A layer III frame header with valid rate and frequency, and a second one after the first frame
    // (ISO/IEC 11172-3 section 2.4.1.3, 13818-3 section 2.4.1).
    private static bool IsMp3(ReadOnlySpan<byte> start)
    {
        ReadOnlySpan<int> rates1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0];
        ReadOnlySpan<int> rates2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0];
        ReadOnlySpan<int> frequencies = [44_100, 48_000, 32_000, 0];
        if (start.Length < 4)
            return false;

        var header = BinaryPrimitives.ReadUInt32BigEndian(start);
        if ((header & 0xFFE6_0000) != 0xFFE2_0000)
            return false;

        var isVersion1 = (header & 0x0018_0000) == 0x0018_0000;
        var rate = (isVersion1 ? rates1 : rates2)[(int)(header >> 12 & 15)];
        var frequency = frequencies[(int)(header >> 10 & 3)];
        if (rate == 0 || frequency == 0 || (header & 0x0018_0000) == 0x0008_0000)
            return false;

        var divisor = (header >> 19 & 3) switch { 3 => frequency, 2 => frequency / 2, _ => frequency / 4 };
        var length = (isVersion1 ? 144 : 72) * rate * 1000 / divisor + (int)(header >> 9 & 1);
        return length + 2 > start.Length || (start[length] == 0xFF && (start[length + 1] & 0xE6) == 0xE2);
    }
}
