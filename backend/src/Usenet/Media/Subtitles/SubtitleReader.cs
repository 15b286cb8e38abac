using System.Text;

namespace Sluice.Usenet.Media.Subtitles;

/// <summary>Reads subtitle files: SubRip, SubStation (SSA and ASS) and WebVTT, recognized by their content. Pure; thread-safe.</summary>
public static class SubtitleReader
{
    /// <summary>Maximum length of a file in bytes.</summary>
    public const int MaxBytes = 8 << 20;

    /// <summary>Maximum number of cues in a file. A film has about 1,500, and karaoke tens of thousands.</summary>
    public const int MaxCues = 100_000;

    /// <summary>Reads a whole file.</summary>
    /// <param name="language">ISO 639-1 code of the language, which selects the Windows code page if the text is not Unicode; null if unknown.</param>
    public static SubtitleText Read(ReadOnlySpan<byte> bytes, string? language)
    {
        if (bytes.Length > MaxBytes)
            return new SubtitleText(SubtitleVerdict.TooLarge, []);
        var text = SubtitleEncoding.Decode(bytes, language);
        var cues = new CueList();
        if (SubStationReader.Recognizes(text))
            SubStationReader.Read(text, cues);
        else
            TimedTextReader.Read(text, cues);

        if (cues.IsFull)
            return new SubtitleText(SubtitleVerdict.TooLarge, []);
        return cues.Count == 0 ? new SubtitleText(SubtitleVerdict.Unreadable, []) : new SubtitleText(SubtitleVerdict.Known, cues.Sort());
    }

    /// <summary>Returns cues as a WebVTT file.</summary>
    public static string ToWebVtt(IEnumerable<SubtitleCue> cues)
    {
        ArgumentNullException.ThrowIfNull(cues);
        var text = new StringBuilder("WEBVTT\n");
        foreach (var cue in cues)
            text.Append('\n').Append(CueTime.Format(cue.Start)).Append(" --> ").Append(CueTime.Format(cue.End)).Append('\n').Append(cue.Text).Append('\n');
        return text.ToString();
    }
}

/// <summary>Reads SubRip and WebVTT, which have the same shape: <c>[number] time "--&gt;" time [settings] line*</c>, ended by a blank line.</summary>
/// <remarks>Headers, notes and style sheets of WebVTT have no time line, so they are skipped.</remarks>
internal static class TimedTextReader
{
    private const string Arrow = "-->";

    public static void Read(ReadOnlySpan<char> text, CueList cues)
    {
        var lines = new List<Range>();
        var (start, end, at) = (0L, 0L, 0);
        var isInside = false;
        while (at < text.Length && !cues.IsFull)
        {
            var length = text[at..].IndexOfAny('\r', '\n');
            var line = length < 0 ? text[at..] : text.Slice(at, length);
            var place = at..(at + line.Length);
            at += line.Length + (text[(at + line.Length)..].StartsWith("\r\n") ? 2 : 1);
            if (TryReadTimes(line, out var nextStart, out var nextEnd))
            {
                // Some files have no blank line between cues, so the last line is the number of the next cue.
                if (isInside && lines.Count > 0 && IsNumber(text[lines[^1]]))
                    lines.RemoveAt(lines.Count - 1);
                Finish(text, cues, start, end, lines);
                (start, end, isInside) = (nextStart, nextEnd, true);
            }
            else if (line.IsWhiteSpace())
            {
                Finish(text, cues, start, end, lines);
                isInside = false;
            }
            else if (isInside)
            {
                lines.Add(place);
            }
        }

        Finish(text, cues, start, end, lines);
    }

    private static void Finish(ReadOnlySpan<char> text, CueList cues, long start, long end, List<Range> lines)
    {
        if (lines.Count > 0)
            cues.Add(start, end, CueText.OfTagged(text[lines[0].Start..lines[^1].End]));
        lines.Clear();
    }

    private static bool TryReadTimes(ReadOnlySpan<char> line, out long start, out long end)
    {
        (start, end) = (0, 0);
        var arrow = line.IndexOf(Arrow, StringComparison.Ordinal);
        if (arrow < 0)
            return false;
        var before = line[..arrow];
        var after = line[(arrow + Arrow.Length)..];
        return CueTime.TryTake(ref before, out start) && before.IsWhiteSpace() && CueTime.TryTake(ref after, out end)
            && (after.IsEmpty || char.IsWhiteSpace(after[0]));
    }

    private static bool IsNumber(ReadOnlySpan<char> line) => !line.Trim().ContainsAnyExceptInRange('0', '9');
}
