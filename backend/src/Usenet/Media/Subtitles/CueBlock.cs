using System.Buffers.Binary;
using System.IO.Compression;
using System.Text;
using Sluice.Usenet.Media.Tracks;

namespace Sluice.Usenet.Media.Subtitles;

/// <summary>Converts the stored bytes of one cue in a film to its text. Pure.</summary>
internal static class CueBlock
{
    // A cue without an end is shown for as long as it takes to read two lines.
    private const long UsualDuration = 5000;

    /// <summary>Returns the text; empty if there is none or the bytes are not text.</summary>
    public static string TextOf(TextSource source, ReadOnlyMemory<byte> stored)
    {
        if (source.IsDeflated)
            stored = Inflate(stored);
        ReadOnlySpan<byte> bytes = source.StrippedHead.Length > 0 ? [.. source.StrippedHead, .. stored.Span] : stored.Span;
        return source.Format switch
        {
            TextFormat.Timed => CueText.OfPlain(TimedText(bytes)),
            TextFormat.SubStation => SubStationReader.TextOfBlock(Encoding.UTF8.GetString(bytes)),
            TextFormat.WebVttWithHead => CueText.OfTagged(WithoutHead(Encoding.UTF8.GetString(bytes))),
            _ => CueText.OfTagged(Encoding.UTF8.GetString(bytes)),
        };
    }

    /// <summary>Returns the cues shown within a time range, in order of start. A cue without an end lasts at most until the next cue.</summary>
    public static IReadOnlyList<SubtitleCue> InStretch(List<(long Start, long? End, string Text)> found, long from, long to)
    {
        found.Sort(static (one, other) => one.Start.CompareTo(other.Start));
        var cues = new CueList();
        for (var i = 0; i < found.Count; i++)
        {
            var (start, known, text) = found[i];
            var end = known ?? (i + 1 < found.Count ? Math.Min(found[i + 1].Start, start + UsualDuration) : start + UsualDuration);
            if (start < to && end > from)
                cues.Add(start, Math.Min(end, CueTime.Max), text);
        }

        return cues.Sort();
    }

    /// <summary>Reads a sample of timed text: <c>length(16) text</c>, in UTF-8, or in UTF-16 after a byte order mark.</summary>
    private static string TimedText(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length < 2)
            return "";
        var text = bytes.Slice(2, Math.Min(BinaryPrimitives.ReadUInt16BigEndian(bytes), bytes.Length - 2));
        return text.StartsWith((ReadOnlySpan<byte>)[0xFE, 0xFF]) ? Encoding.BigEndianUnicode.GetString(text[2..])
            : text.StartsWith((ReadOnlySpan<byte>)[0xFF, 0xFE]) ? Encoding.Unicode.GetString(text[2..])
            : Encoding.UTF8.GetString(text);
    }

    /// <summary>Returns the text after the first two lines.</summary>
    private static ReadOnlySpan<char> WithoutHead(ReadOnlySpan<char> text)
    {
        for (var line = 0; line < 2; line++)
        {
            var end = text.IndexOf('\n');
            if (end < 0)
                return "";
            text = text[(end + 1)..];
        }

        return text;
    }

    /// <summary>Inflates bytes to at most <see cref="FilmSubtitles.MaxText"/> bytes; empty if they are not zlib data.</summary>
    private static ReadOnlyMemory<byte> Inflate(ReadOnlyMemory<byte> bytes)
    {
        var text = new byte[FilmSubtitles.MaxText];
        try
        {
            using var source = new MemoryStream(bytes.ToArray(), writable: false);
            using var inflated = new ZLibStream(source, CompressionMode.Decompress);
            return text.AsMemory(0, inflated.ReadAtLeast(text, text.Length, throwOnEndOfStream: false));
        }
        catch (InvalidDataException)
        {
            return ReadOnlyMemory<byte>.Empty;
        }
    }
}
