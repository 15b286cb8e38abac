using System.Buffers;
using System.Text;

namespace Sluice.Usenet.Media.Subtitles;

/// <summary>Turns the text of a cue into the payload of a WebVTT cue. Drops styles, positions and drawings. Pure.</summary>
internal sealed class CueText
{
    /// <summary>Maximum length in characters. Longer text is truncated, because no screen can show it.</summary>
    public const int MaxLength = 2000;

    // A longer tag is text with a less-than sign.
    private const int MaxTag = 200;

    // Overrides with clip paths are the longest.
    private const int MaxOverride = 4096;

    // Maximum length of one event's text and overrides. Longer events are drawings.
    private const int MaxEvent = 32 << 10;

    // The longest HTML entity in use, such as "&rightarrow;".
    private const int MaxEntity = 12;

    private static readonly SearchValues<char> TimeCharacters = SearchValues.Create("0123456789:.");

    private readonly StringBuilder _text = new();

    // Whether the next text starts a new line. The line break is written with that text, so that there are no blank lines.
    private bool _startsLine;

    private CueText()
    {
    }

    /// <summary>Cleans the text of SubRip or WebVTT: keeps the tags b, i and u, and drops all others.</summary>
    public static string OfTagged(ReadOnlySpan<char> text)
    {
        var clean = new CueText();
        foreach (var line in text.EnumerateLines())
        {
            var rest = line.Trim();
            while (!rest.IsEmpty)
                rest = rest[clean.AddTagged(rest)..];
            clean._startsLine = true;
        }

        return clean.Finish();
    }

    /// <summary>Cleans the text of SubStation: drops overrides such as <c>{\an8}</c>, and drawings between <c>{\p1}</c> and <c>{\p0}</c>.</summary>
    public static string OfSubStation(ReadOnlySpan<char> text)
    {
        var clean = new CueText();
        var draws = false;
        text = text[..Math.Min(text.Length, MaxEvent)];
        while (!text.IsEmpty)
        {
            if (text[0] == '{' && text[..Math.Min(text.Length, MaxOverride)].IndexOf('}') is > 0 and var end)
            {
                draws = IsDrawing(text[1..end], draws);
                text = text[(end + 1)..];
            }
            else if (text.Length > 1 && text[0] == '\\' && text[1] is 'N' or 'n' or 'h')
            {
                if (text[1] == 'h')
                    clean.Add('\u00A0');
                else
                    clean._startsLine = true;
                text = text[2..];
            }
            else
            {
                if (text[0] is '\r' or '\n')
                    clean._startsLine = true;
                else if (!draws)
                    clean.Add(text[0]);
                text = text[1..];
            }
        }

        return clean.Finish();
    }

    /// <summary>Cleans text without markup, as in MP4 files.</summary>
    public static string OfPlain(ReadOnlySpan<char> text)
    {
        var clean = new CueText();
        foreach (var line in text.EnumerateLines())
        {
            foreach (var character in line)
                clean.Add(character);
            clean._startsLine = true;
        }

        return clean.Finish();
    }

    /// <summary>Finds the last drawing switch among overrides; a positive number after <c>\p</c> begins a drawing.</summary>
    private static bool IsDrawing(ReadOnlySpan<char> overrides, bool draws)
    {
        while (overrides.IndexOf("\\p", StringComparison.Ordinal) is >= 0 and var at)
        {
            overrides = overrides[(at + 2)..];
            if (!overrides.IsEmpty && char.IsAsciiDigit(overrides[0]))
                draws = overrides[0] != '0';
        }

        return draws;
    }

    /// <summary>Adds the first token of the text: a tag, an override, an entity or one character. Returns its length.</summary>
    private int AddTagged(ReadOnlySpan<char> text)
    {
        if (text[0] == '<' && TagLength(text) is > 0 and var tag)
        {
            if (KeptTag(text[1..(tag - 1)]) is { } kept)
                AddWhole(kept);
            return tag;
        }

        // SubRip players honor SubStation position overrides.
        if (text.StartsWith("{\\", StringComparison.Ordinal) && text[..Math.Min(text.Length, MaxTag)].IndexOf('}') is > 0 and var end)
            return end + 1;
        if (text[0] == '&' && EntityLength(text) is > 0 and var entity)
        {
            AddWhole(text[..entity]);
            return entity;
        }

        Add(text[0]);
        return 1;
    }

    /// <summary>Returns the length of a tag: <c>&lt;i&gt;</c>, <c>&lt;/font&gt;</c>, <c>&lt;v Anna&gt;</c>, <c>&lt;00:01.000&gt;</c>; 0 for other text.</summary>
    private static int TagLength(ReadOnlySpan<char> text)
    {
        var end = text[..Math.Min(text.Length, MaxTag)].IndexOf('>');
        if (end < 2)
            return 0;
        var isTag = char.IsAsciiLetter(text[1])
            || (text[1] == '/' && (end == 2 || char.IsAsciiLetter(text[2])))
            || !text[1..end].ContainsAnyExcept(TimeCharacters);
        return isTag ? end + 1 : 0;
    }

    /// <summary>Returns a tag that WebVTT also supports (b, i or u), without its class; null for any other tag.</summary>
    private static string? KeptTag(ReadOnlySpan<char> inside)
    {
        var isEnd = inside[0] == '/';
        var name = isEnd ? inside[1..] : inside;
        if (name.IndexOfAny('.', ' ', '\t') is >= 0 and var end)
            name = name[..end];
        return name switch
        {
            "b" or "B" => isEnd ? "</b>" : "<b>",
            "i" or "I" => isEnd ? "</i>" : "<i>",
            "u" or "U" => isEnd ? "</u>" : "<u>",
            _ => null,
        };
    }

    private static int EntityLength(ReadOnlySpan<char> text)
    {
        var end = text[..Math.Min(text.Length, MaxEntity)].IndexOf(';');
        if (end < 2)
            return 0;
        foreach (var character in text[1..end])
        {
            if (!char.IsAsciiLetterOrDigit(character) && character != '#')
                return 0;
        }

        return end + 1;
    }

    private void Add(char character)
    {
        switch (character)
        {
            case '<':
                AddWhole("&lt;");
                break;
            case '>':
                AddWhole("&gt;");
                break;
            case '&':
                AddWhole("&amp;");
                break;
            case '\t':
                AddWhole(" ");
                break;
            default:
                if (!char.IsControl(character) && character is not ('\uFEFF' or '\u2028' or '\u2029'))
                    AddWhole([character]);
                break;
        }
    }

    private void AddWhole(ReadOnlySpan<char> text)
    {
        if (_text.Length + text.Length >= MaxLength)
            return;
        if (_startsLine && _text.Length > 0)
            _text.Append('\n');
        _startsLine = false;
        _text.Append(text);
    }

    private string Finish()
    {
        // Truncation may have split a surrogate pair.
        if (_text.Length > 0 && char.IsHighSurrogate(_text[^1]))
            _text.Length--;
        return _text.ToString().Trim() is { } text && HasLetters(text) ? text : "";
    }

    /// <summary>Whether the text has more than tags and white space.</summary>
    private static bool HasLetters(ReadOnlySpan<char> text)
    {
        var isTag = false;
        foreach (var character in text)
        {
            if (character is '<' or '>')
                isTag = character == '<';
            else if (!isTag && !char.IsWhiteSpace(character))
                return true;
        }

        return false;
    }
}
