using System.Globalization;
using Sluice.Usenet.Media;
using Sluice.Usenet.Media.Tracks;
using Xunit;
using static Sluice.Usenet.Tests.Media.Tracks.HeaderWriter;

namespace Sluice.Usenet.Tests.Media.Tracks;

public sealed class TrackReaderTests
{
    // HEVC, Main 10, level 5.1; the last bytes are chroma and depth.
    private static readonly byte[] Hevc = Hex("01 02 20000000 B00000000000 99 F000 FC FD FA FA 0000 0F 00");

    private static readonly byte[] Avc = Hex("01 640028 FF E1 0000");

    /// <summary>The setup of a codec in each container, its display name and its MIME type.</summary>
    public static TheoryData<string, byte[], string, string?> Pictures => new()
    {
        { "V_MPEG4/ISO/AVC", Avc, "H.264", "video/mp4; codecs=\"avc1.640028\"" },
        { "V_MPEG4/ISO/AVC", Hex("01 6E0033 FF E1 0000"), "H.264 10-bit", "video/mp4; codecs=\"avc1.6E0033\"" },
        { "V_MPEGH/ISO/HEVC", Hevc, "HEVC 10-bit", "video/mp4; codecs=\"hvc1.2.4.L153.B0\"" },
        { "V_MPEGH/ISO/HEVC", Hex("01 01 60000000 900000000000 5D F000 FC FD F8 F8 0000 0F 00"), "HEVC", "video/mp4; codecs=\"hvc1.1.6.L93.90\"" },
        { "V_AV1", Hex("81 0D 4C 00"), "AV1 10-bit", "video/mp4; codecs=\"av01.0.13M.10\"" },
        { "V_VP9", Hex("010102 02011F 03010A"), "VP9 10-bit", "video/webm; codecs=\"vp09.02.31.10\"" },
        { "V_VP9", [], "VP9", "video/webm; codecs=\"vp9\"" },
        { "V_MPEG2", [], "MPEG-2", "video/mp4; codecs=\"mp4v.61\"" },
        { "V_MS/VFW/FOURCC", Hex("28000000 80020000 E0010000 01001800 58564944 00000000"), "MPEG-4 Visual", "video/mp4; codecs=\"mp4v.20.9\"" },
        { "V_SOMETHING", [], "SOMETHING", null },
    };

    public static TheoryData<string, byte[], int, string, string?> Sounds => new()
    {
        { "A_AAC", Hex("1190"), 2, "AAC stereo", "audio/mp4; codecs=\"mp4a.40.2\"" },
        { "A_AAC", Hex("2B118800"), 2, "HE-AAC stereo", "audio/mp4; codecs=\"mp4a.40.5\"" },
        { "A_AC3", [], 6, "AC-3 5.1", "audio/mp4; codecs=\"ac-3\"" },
        { "A_EAC3", [], 8, "E-AC-3 7.1", "audio/mp4; codecs=\"ec-3\"" },
        { "A_DTS", [], 6, "DTS 5.1", "audio/mp4; codecs=\"dtsc\"" },
        { "A_TRUEHD", [], 8, "TrueHD 7.1", "audio/mp4; codecs=\"mlpa\"" },
        { "A_OPUS", [], 2, "Opus stereo", "audio/webm; codecs=\"opus\"" },
        { "A_FLAC", [], 2, "FLAC stereo", "audio/mp4; codecs=\"flac\"" },
        { "A_MPEG/L3", [], 2, "MP3 stereo", "audio/mp4; codecs=\"mp4a.6B\"" },
        { "A_PCM/INT/LIT", [], 2, "PCM stereo", null },
    };

    /// <summary>Complete headers of both formats, for cuts and mutations.</summary>
    public static TheoryData<string> Formats => new("mkv", "mp4");

    [Theory]
    [MemberData(nameof(Pictures))]
    public async Task Matroska_video_codec_has_a_name_and_MIME_type(string codec, byte[] setup, string name, string? type)
    {
        var file = new CountedFile(Join(Start(), Segment(Info(1000), TrackList(Entry(1, codec, setup, Picture(1920, 1080))))));

        var track = Assert.Single((await file.ReadTracksAsync()).Tracks);

        Assert.Equal((TrackKind.Video, name, type, 1920, 1080), (track.Kind, track.Codec, track.Type, track.Width, track.Height));
    }

    [Theory]
    [MemberData(nameof(Sounds))]
    public async Task Matroska_audio_codec_has_a_name_and_MIME_type(string codec, byte[] setup, int channels, string name, string? type)
    {
        var file = new CountedFile(Join(Start(), Segment(TrackList(Entry(2, codec, setup, Sound(channels))))));

        var track = Assert.Single((await file.ReadTracksAsync()).Tracks);

        Assert.Equal((TrackKind.Audio, name, type), (track.Kind, track.Codec, track.Type));
    }

    [Fact]
    public async Task Matroska_gives_languages_titles_and_duration()
    {
        var file = new CountedFile(Whole("mkv"));

        var tracks = await file.ReadTracksAsync();

        Assert.Equal((TracksVerdict.Known, MediaKind.Matroska, TimeSpan.FromSeconds(90)), (tracks.Verdict, tracks.Kind, tracks.Duration));
        Assert.Equal(
            [
                ("HEVC 10-bit", "eng", null, true),
                ("E-AC-3 5.1", "de-AT", "Kommentar", false),
                ("SubRip", null, "Forced", true),
                ("PGS", "fra", null, true),
            ],
            tracks.Tracks.Select(track => (track.Codec, track.Language, track.Title, track.IsDefault)));
        Assert.Equal(1, file.Reads);
    }

    [Fact]
    public async Task Matroska_flags_forced_subtitles_and_descriptions_of_sounds()
    {
        var file = new CountedFile(Join(Start(), Segment(TrackList(
            Entry(0x11, "S_TEXT/UTF8", null, Number(0x55AA, 1)),
            Entry(0x11, "S_HDMV/PGS", null, Number(0x55AB, 1)),
            Entry(0x11, "S_TEXT/ASS", null, Number(0x55AA, 0))))));

        var tracks = (await file.ReadTracksAsync()).Tracks;

        Assert.Equal([(true, false), (false, true), (false, false)], tracks.Select(track => (track.IsForced, track.DescribesSounds)));
    }

    [Fact]
    public async Task Matroska_index_leads_to_tracks_after_the_film()
    {
        const long film = 40L << 30;
        var (start, info) = (Start(), Info(5000));
        var tracks = Join(info, TrackList(Entry(1, "V_MPEG4/ISO/AVC", Avc)));
        // Positions count from the content of the segment, whose head has five bytes: index, then one cluster, whose head has twelve.
        var behind = Index((0x1549A966, 0), (0x1654AE6B, 0)).Length + 12 + film;
        var index = Index((0x1549A966, behind), (0x1654AE6B, behind + info.Length));
        var head = Join(start, OpenElement(0x18538067, index, Hex("1F43B675 01"), Hex(film.ToString("X14", CultureInfo.InvariantCulture))));
        var at = start.Length + 5 + behind;
        var file = new CountedFile(head, at + tracks.Length, (at, tracks));

        var found = await file.ReadTracksAsync();

        Assert.Equal(("H.264", TimeSpan.FromSeconds(5)), (Assert.Single(found.Tracks).Codec, found.Duration));
        Assert.Equal(2, file.Reads);
    }

    [Fact]
    public async Task Wrong_Matroska_index_falls_back_to_the_elements()
    {
        var file = new CountedFile(Join(
            Start(), Segment(Index((0x1654AE6B, 77), (0x1549A966, 3)), Element(0xEC, new byte[100]), Info(1000), TrackList(Entry(2, "A_OPUS", null, Sound(2))))));

        var found = await file.ReadTracksAsync();

        Assert.Equal("Opus stereo", Assert.Single(found.Tracks).Codec);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Mp4_is_read_with_moov_at_the_head_or_tail(bool isTail)
    {
        const long film = 20L << 30;
        var movie = Movie(
            90_500,
            Track("vide", "eng", PictureEntry("hev1", 3840, 2160, Box("hvcC", Hevc)), tables: 3_000_000),
            Track("soun", "deu", SoundEntry("ec-3", 2, Box("dec3", Hex("0C00 20 0F 01 0002"))), tables: 3_000_000),
            Track("sbtl", "und", Box("tx3g", new byte[30]), isEnabled: false));
        var data = Join(Big32(1), "mdat"u8.ToArray(), Big32((film + 16) >> 32), Big32((film + 16) & 0xFFFFFFFF));
        var head = isTail ? Join(FileType(), data) : Join(FileType(), movie, data);
        var file = new CountedFile(head, head.Length + film + (isTail ? movie.Length : 0), isTail ? (head.Length + film, movie) : null);

        var found = await file.ReadTracksAsync();

        Assert.Equal((TracksVerdict.Known, TimeSpan.FromMilliseconds(90_500)), (found.Verdict, found.Duration));
        Assert.Equal(
            [
                ("HEVC 10-bit", "video/mp4; codecs=\"hev1.2.4.L153.B0\"", "eng", 3840, null, true),
                ("E-AC-3 5.1", "audio/mp4; codecs=\"ec-3\"", "deu", null, 6, true),
                ("Timed text", null, null, null, null, false),
            ],
            found.Tracks.Select(track => (track.Codec, track.Type, track.Language, track.Width, track.Channels, track.IsDefault)));
        // The reader skips the sample tables of 6 MB.
        Assert.InRange(file.Bytes, 1, 256 << 10);
    }

    [Fact]
    public async Task Mp4_audio_codec_has_a_name_and_MIME_type()
    {
        var file = new CountedFile(Join(FileType(), Movie(
            1000,
            Track("soun", "eng", SoundEntry("mp4a", 2, Descriptor(0x40, Hex("11B0")))),
            Track("soun", "eng", SoundEntry("mp4a", 2, Descriptor(0x6B, []))),
            Track("soun", "eng", SoundEntry("ac-3", 2, Box("dac3", Hex("103D40")))),
            Track("soun", "eng", SoundEntry("ec-3", 2, Box("dec3", Hex("0C00 20 0F 0202")))),
            Track("soun", "eng", SoundEntry("Opus", 2, Box("dOps", Hex("00 06 0000 0000BB80 0000 00")))),
            Track("soun", "eng", SoundEntry("dtsl", 8)),
            Track("soun", "eng", SoundEntry("enca", 2, Box("sinf", Box("frma", "fLaC"u8.ToArray())))),
            Track("text", "eng", Box("text", new byte[30])))));

        var found = await file.ReadTracksAsync();

        Assert.Equal(
            [
                ("AAC 5.1", "audio/mp4; codecs=\"mp4a.40.2\""),
                ("MP3 stereo", "audio/mp4; codecs=\"mp4a.6B\""),
                ("AC-3 5.1", "audio/mp4; codecs=\"ac-3\""),
                ("E-AC-3 7.1", "audio/mp4; codecs=\"ec-3\""),
                ("Opus 5.1", "audio/mp4; codecs=\"opus\""),
                ("DTS-HD MA 7.1", "audio/mp4; codecs=\"dtsl\""),
                ("FLAC stereo", "audio/mp4; codecs=\"flac\""),
            ],
            found.Tracks.Select(track => (track.Codec, track.Type)));
    }

    [Fact]
    public async Task Mp4_video_codec_has_a_name_and_MIME_type()
    {
        var file = new CountedFile(Join(FileType(), Movie(
            1000,
            Track("vide", "eng", PictureEntry("avc1", 1280, 720, Box("avcC", Avc))),
            Track("vide", "eng", PictureEntry("av01", 1280, 720, Box("av1C", Hex("81 05 0C 00")))),
            Track("vide", "eng", PictureEntry("vp09", 1280, 720, Box("vpcC", Hex("01000000 02 1F A2 02 02 02 0000")))),
            Track("vide", "eng", PictureEntry("mp4v", 640, 480, Descriptor(0x20, Hex("000001B0F5")))),
            Track("vide", "eng", PictureEntry("dvh1", 640, 480, Box("dvcC", Hex("01 00 0A 35 10")))))));

        var found = await file.ReadTracksAsync();

        Assert.Equal(
            [
                ("H.264", "video/mp4; codecs=\"avc1.640028\""),
                ("AV1", "video/mp4; codecs=\"av01.0.05M.08\""),
                ("VP9 10-bit", "video/webm; codecs=\"vp09.02.31.10\""),
                ("MPEG-4 Visual", "video/mp4; codecs=\"mp4v.20.245\""),
                ("Dolby Vision", "video/mp4; codecs=\"dvh1.05.06\""),
            ],
            found.Tracks.Select(track => (track.Codec, track.Type)));
    }

    [Theory]
    [InlineData("52494646 FFFFFFFF 41564920", MediaKind.Avi)]
    [InlineData("00", MediaKind.Unknown)]
    [InlineData("", MediaKind.Unknown)]
    public async Task Other_kinds_are_reported_and_not_parsed(string start, MediaKind kind)
    {
        var found = await new CountedFile(Hex(start)).ReadTracksAsync();

        Assert.Equal((TracksVerdict.OtherKind, kind), (found.Verdict, found.Kind));
    }

    [Theory]
    [MemberData(nameof(Formats))]
    public async Task Truncated_header_gives_all_tracks_or_none(string format)
    {
        var whole = Whole(format);
        var expected = (await new CountedFile(whole).ReadTracksAsync()).Tracks;
        Assert.NotEmpty(expected);

        for (var cut = 0; cut < whole.Length; cut++)
        {
            var found = await new CountedFile(whole[..cut]).ReadTracksAsync();
            if (found.Verdict == TracksVerdict.Known)
                Assert.Equal(expected, found.Tracks);
            else
                Assert.Empty(found.Tracks);
        }
    }

    [Theory]
    [MemberData(nameof(Formats))]
    public async Task Mutated_header_reads_no_more_than_the_limit(string format)
    {
        var whole = Whole(format);
        var random = new Random(20261128);
        var known = 0;
        for (var i = 0; i < 20_000; i++)
        {
            var bytes = whole.ToArray();
            for (var changes = random.Next(1, 6); changes > 0; changes--)
                bytes[random.Next(bytes.Length)] = (byte)(random.Next(3) == 0 ? 0xFF : random.Next(256));
            var file = new CountedFile(bytes, random.Next(2) == 0 ? bytes.Length : 1L << random.Next(20, 50));
            var tracks = await file.ReadTracksAsync();
            known += tracks.Verdict == TracksVerdict.Known ? 1 : 0;
            Assert.InRange(file.Bytes, 0, TrackReader.MaxRead);
        }

        // Most changes hit bytes that the reader ignores.
        Assert.InRange(known, 1_000, 19_999);
    }

    [Fact]
    public async Task Header_without_end_is_reported_damaged_at_the_read_limit()
    {
        // Empty elements of two bytes, each of which the reader skips.
        var matroska = new CountedFile(Join(Start(), OpenElement(0x18538067, [.. Enumerable.Repeat<byte[]>([0xEC, 0x80], 4_000_000)])));
        var mp4 = new CountedFile(Join(FileType(), [.. Enumerable.Repeat(Box("free"), 1_000_000).SelectMany(box => box)]));

        Assert.Equal(TracksVerdict.Damaged, (await matroska.ReadTracksAsync()).Verdict);
        Assert.Equal(TracksVerdict.Damaged, (await mp4.ReadTracksAsync()).Verdict);
        Assert.InRange(matroska.Bytes, 1, TrackReader.MaxRead);
        Assert.InRange(mp4.Bytes, 1, TrackReader.MaxRead);
    }

    private static byte[] Whole(string format) => format == "mkv"
        ? Join(Start(), Segment(
            Element(0xEC, new byte[20]),
            Info(90_000),
            TrackList(
                Entry(1, "V_MPEGH/ISO/HEVC", Hevc, Picture(3840, 2160)),
                Entry(2, "A_EAC3", null, Sound(6), Element(0x22B59D, "de-AT"), Element(0x22B59C, "ger"), Element(0x536E, "Kommentar"), Number(0x88, 0)),
                Entry(0x11, "S_TEXT/UTF8", null, Element(0x22B59C, "und"), Element(0x536E, "Forced\u0007")),
                Entry(0x11, "S_HDMV/PGS", null, Element(0x22B59C, "fra")),
                Entry(0x20, "S_BUTTONS")),
            Cluster(50)))
        : Join(FileType(), Movie(
            90_000,
            Track("vide", "eng", PictureEntry("avc1", 1280, 720, Box("avcC", Avc)), tables: 100),
            Track("soun", "deu", SoundEntry("mp4a", 2, Descriptor(0x40, Hex("1190"))), tables: 100)));
}
