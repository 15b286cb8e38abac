using System.Text;
using Sluice.Testing;
using Sluice.Usenet.Media.Subtitles;
using Xunit;

namespace Sluice.Usenet.Tests.Media.Subtitles;

/// <summary>Reads SubRip, SubStation and WebVTT, as found in real posts, into cues.</summary>
public sealed class SubtitleReaderTests
{
    internal const string SubRip =
        "1\r\n00:00:01,000 --> 00:00:03,500\r\n<i>The harbour lights</i> are out.\r\n\r\n"
        + "2\r\n00:00:04,000 --> 00:00:06,250 X1:40 X2:600 Y1:20 Y2:50\r\n{\\an8}<font color=\"#ffff00\">- Who put them out?</font>\r\n- AT&T & 3 < 4.\r\n\r\n"
        + "3\r\n01:02:03,004 --> 01:02:05,000\r\nÀ bientôt…\r\n";

    internal const string SubStation =
        """
        [Script Info]
        Title: Harbour Lights
        ScriptType: v4.00+

        [V4+ Styles]
        Format: Name, Fontname, Fontsize
        Style: Default,Arial,20

        [Events]
        Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
        Comment: 0,0:00:00.00,0:00:09.00,Default,,0,0,0,,Timed by nobody
        Dialogue: 1,0:00:01.00,0:00:03.50,Default,Anna,0,0,0,,{\an8\pos(320,40)}The harbour lights,{\i1} all of them{\i0}, are out.
        Dialogue: 0,0:00:01.00,0:00:03.50,Default,Anna,0,0,0,,{\bord4}The harbour lights, all of them, are out.
        Dialogue: 0,0:00:02.00,0:00:05.00,Sign,,0,0,0,,{\p1}m 0 0 l 100 0 100 100 0 100{\p0}
        Dialogue: 0,0:01:02.03,0:01:04.00,Default,,0,0,0,,{\k20}Two\Nlines\hhere <now>
        """;

    internal const string WebVtt =
        """
        WEBVTT - Harbour Lights

        STYLE
        ::cue { color: yellow }

        NOTE Nobody reads
        this.

        intro
        00:01.000 --> 00:03.500 line:10% align:start
        <v Anna>The <i.loud>harbour</i> lights &amp; the <00:00:02.000>buoys

        01:00:04.000 --> 01:00:06.000
        - Out.
        - All?
        """;

    [Fact]
    public void SubRip_keeps_italics_and_drops_fonts_and_positions() =>
        Assert.Equal(
            [
                new(1000, 3500, "<i>The harbour lights</i> are out."),
                new(4000, 6250, "- Who put them out?\n- AT&amp;T &amp; 3 &lt; 4."),
                new(3_723_004, 3_725_000, "À bientôt…"),
            ],
            Read(SubRip));

    [Fact]
    public void SubStation_drops_styles_drawings_and_copies() =>
        Assert.Equal(
            [
                new(1000, 3500, "The harbour lights, all of them, are out."),
                new(62_030, 64_000, "Two\nlines\u00A0here &lt;now&gt;"),
            ],
            Read(SubStation));

    [Fact]
    public void WebVtt_drops_notes_style_sheets_and_settings() =>
        Assert.Equal(
            [
                new(1000, 3500, "The <i>harbour</i> lights &amp; the buoys"),
                new(3_604_000, 3_606_000, "- Out.\n- All?"),
            ],
            Read(WebVtt));

    [Theory]
    [InlineData("1\n00:00:01,000 --> 00:00:02,000\nOne\n2\n00:00:03,000 --> 00:00:04,000\nTwo\n", "One|Two")]
    [InlineData("0:0:1.5-->0:0:2\nShort times\n", "Short times")]
    [InlineData("00:00:05,000 --> 00:00:06,000\nLater\n\n00:00:01,000 --> 00:00:02,000\nEarlier\n", "Earlier|Later")]
    [InlineData("00:00:05,000 --> 00:00:05,000\nNo time\n\n00:00:09,000 --> 00:00:08,000\nBackwards\n", "")]
    [InlineData("00:00:05,000 --> 00:00:07,000\n<font color=red></font>\n", "")]
    [InlineData("00:61:05,000 --> 00:62:07,000\nNo such minute\n", "")]
    [InlineData("9999:00:05,000 --> 9999:00:07,000\nNo such film\n", "")]
    [InlineData("00:00:01,000 --> 00:00:02,000\nI <3 you --> now\n", "I &lt;3 you --&gt; now")]
    [InlineData("[Events]\nDialogue: 0,0:00:01.00,0:00:02.00,D,,0,0,0,,No format line, though\n", "No format line, though")]
    [InlineData("[Events]\nFormat: Start, End, Text\nDialogue: 0:00:01.00,0:00:02.00,Few, columns\n", "Few, columns")]
    [InlineData("[Events]\nFormat: Text, Start, End\nDialogue: 0,0:00:01.00,0:00:02.00,D,,0,0,0,,Odd format\n", "Odd format")]
    [InlineData("A letter, and no subtitles.", "")]
    [InlineData("", "")]
    public void Malformed_files_give_their_readable_cues(string file, string expected)
    {
        var text = SubtitleReader.Read(Encoding.UTF8.GetBytes(file), null);

        Assert.Equal(expected, string.Join('|', text.Cues.Select(cue => cue.Text)));
        Assert.Equal(expected.Length == 0 ? SubtitleVerdict.Unreadable : SubtitleVerdict.Known, text.Verdict);
    }

    [Fact]
    public void Cues_are_written_as_webvtt() =>
        Assert.Equal(
            "WEBVTT\n\n00:00:01.000 --> 00:00:03.500\n<i>The harbour lights</i> are out.\n\n"
            + "00:00:04.000 --> 00:00:06.250\n- Who put them out?\n- AT&amp;T &amp; 3 &lt; 4.\n\n01:02:03.004 --> 01:02:05.000\nÀ bientôt…\n",
            SubtitleReader.ToWebVtt(Read(SubRip)));

    [Theory]
    [InlineData(SubRip)]
    [InlineData(SubStation)]
    [InlineData(WebVtt)]
    public void Truncated_files_give_the_cues_before_the_cut(string file)
    {
        var bytes = Encoding.UTF8.GetBytes(file);
        var whole = Read(file);

        foreach (var pieces in Splits.EveryPosition(bytes))
        {
            var cues = SubtitleReader.Read(pieces[0].Span, null).Cues;
            // Only the last cue can differ, because its text is cut.
            Assert.True(cues.Count <= whole.Count);
            Assert.Equal(whole.Take(Math.Max(0, cues.Count - 1)), cues.SkipLast(1));
        }
    }

    [Fact]
    public void Files_above_a_limit_are_refused()
    {
        var many = new StringBuilder();
        for (var i = 0; i <= SubtitleReader.MaxCues; i++)
            many.Append("0:0:1-->0:0:2\n").Append(i).Append(" cue\n");

        Assert.Equal(SubtitleVerdict.TooLarge, SubtitleReader.Read(Encoding.UTF8.GetBytes(many.ToString()), null).Verdict);
        Assert.Equal(SubtitleVerdict.TooLarge, SubtitleReader.Read(new byte[SubtitleReader.MaxBytes + 1], null).Verdict);
    }

    [Theory]
    [InlineData("a")]
    [InlineData("{\\")]
    [InlineData("<i")]
    [InlineData("&amp")]
    [InlineData("\U0001F600")]
    public void Overlong_line_is_truncated(string piece)
    {
        var file = $"0:0:1 --> 0:0:2\n{string.Concat(Enumerable.Repeat(piece, 2_000_000 / piece.Length))}";

        var text = SubtitleReader.Read(Encoding.UTF8.GetBytes(file), null);

        Assert.All(text.Cues, cue => Assert.InRange(cue.Text.Length, 1, CueText.MaxLength));
        Assert.DoesNotContain("\uFFFD", SubtitleReader.ToWebVtt(text.Cues), StringComparison.Ordinal);
    }

    /// <summary>Files with changed, cut, duplicated and mixed bytes. None may throw, and the cues stay within their limits.</summary>
    [Fact]
    public void Damaged_files_never_throw() => Mutate(100_000, seed: 33);

    private static IReadOnlyList<SubtitleCue> Read(string file) => SubtitleReader.Read(Encoding.UTF8.GetBytes(file), null).Cues;

    private static void Mutate(int files, int seed)
    {
        var random = new Random(seed);
        byte[][] sources =
        [
            Encoding.UTF8.GetBytes(SubRip), Encoding.Unicode.GetPreamble().Concat(Encoding.Unicode.GetBytes(SubRip)).ToArray(), Encoding.Latin1.GetBytes(SubRip),
            Encoding.UTF8.GetBytes(SubStation), Encoding.UTF8.GetBytes(WebVtt),
        ];
        byte[][] pieces = [.. new[] { "-->", "{\\p1}", "{", "}", "<", ">", "&", ";", "\n", "\r", "\0", ":", ",", "Format:", "Dialogue:", "[Events]", "9999999999" }.Select(Encoding.UTF8.GetBytes)];
        for (var i = 0; i < files; i++)
        {
            var file = new List<byte>(sources[random.Next(sources.Length)]);
            for (var changes = random.Next(1, 12); changes > 0 && file.Count > 0; changes--)
            {
                var at = random.Next(file.Count);
                switch (random.Next(5))
                {
                    case 0:
                        file[at] = (byte)random.Next(256);
                        break;
                    case 1:
                        file.InsertRange(at, pieces[random.Next(pieces.Length)]);
                        break;
                    case 2:
                        file.RemoveRange(at, random.Next(1, Math.Min(20, file.Count - at) + 1));
                        break;
                    case 3:
                        file.InsertRange(at, file.GetRange(random.Next(file.Count / 2), random.Next(file.Count / 2)));
                        break;
                    default:
                        file.RemoveRange(at, file.Count - at);
                        break;
                }
            }

            var text = SubtitleReader.Read([.. file], random.Next(2) == 0 ? null : "ru");
            Assert.Equal(text.Verdict == SubtitleVerdict.Known, text.Cues.Count > 0);
            var last = 0L;
            foreach (var cue in text.Cues)
            {
                Assert.True(cue.Start >= last && cue.End > cue.Start && cue.End <= CueTime.Max);
                Assert.True(cue.Text.Length is > 0 and <= CueText.MaxLength);
                Assert.DoesNotContain("-->", cue.Text, StringComparison.Ordinal);
                Assert.DoesNotContain("\n\n", cue.Text, StringComparison.Ordinal);
                last = cue.Start;
            }
        }
    }
}
