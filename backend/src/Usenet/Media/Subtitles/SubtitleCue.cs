namespace Sluice.Usenet.Media.Subtitles;

/// <summary>Text with the time at which it is shown.</summary>
/// <param name="Start">Milliseconds since the start of the film.</param>
/// <param name="End">Milliseconds since the start of the film; greater than <paramref name="Start"/>.</param>
/// <param name="Text">Payload of a WebVTT cue: escaped, without blank lines, and with no tags other than b, i and u. Never empty.</param>
public readonly record struct SubtitleCue(long Start, long End, string Text);

/// <summary>The outcome of reading a subtitle file.</summary>
public enum SubtitleVerdict
{
    Known,

    /// <summary>No cue was found, so the file is empty, damaged or has another format.</summary>
    Unreadable,

    /// <summary>The file exceeds <see cref="SubtitleReader.MaxBytes"/> or <see cref="SubtitleReader.MaxCues"/>.</summary>
    TooLarge,
}

/// <summary>The content of a subtitle file.</summary>
/// <param name="Cues">The cues in order of start; empty unless known.</param>
public sealed record SubtitleText(SubtitleVerdict Verdict, IReadOnlyList<SubtitleCue> Cues);

/// <summary>Receives cues while a file is read, and checks them.</summary>
internal sealed class CueList
{
    private readonly List<SubtitleCue> _cues = [];

    public int Count => _cues.Count;

    /// <summary>Whether the file has more cues than <see cref="SubtitleReader.MaxCues"/>, so that reading stops.</summary>
    public bool IsFull { get; private set; }

    /// <summary>Adds a cue, unless it has no text or ends before it starts.</summary>
    public void Add(long start, long end, string text)
    {
        if (text.Length == 0 || end <= start)
            return;
        if (_cues.Count == SubtitleReader.MaxCues)
            IsFull = true;
        else
            _cues.Add(new SubtitleCue(start, end, text));
    }

    /// <summary>Returns the cues in order of start. Drops repeated cues, because SubStation files draw outlines and shadows as copies of a line.</summary>
    public IReadOnlyList<SubtitleCue> Sort()
    {
        var seen = new HashSet<SubtitleCue>(_cues.Count);
        return [.. _cues.Where(seen.Add).OrderBy(static cue => cue.Start)];
    }
}
