namespace Sluice.Usenet.Nzb;

/// <summary>
/// Measures what an XML reader holds at once: the characters from one opening bracket to the next. A bracket inside a CDATA
/// section or a comment opens nothing (XML 1.0 sections 2.5 and 2.7).
/// </summary>
/// <remarks>Takes the text in any portions. Not thread-safe.</remarks>
internal sealed class NzbMarkupMeter(int limit)
{
    // What follows the bracket, and the letter that stands twice before the end: "]]>" and "-->".
    private const string SectionStart = "![CDATA[";
    private const char SectionEnd = ']';
    private const string CommentStart = "!--";
    private const char CommentEnd = '-';

    private const int NotOpening = -1;

    private int _length;
    private int _opening = NotOpening;
    private string _start = SectionStart;
    private char? _end;
    private int _endLetters;

    /// <summary>Takes the next characters.</summary>
    /// <returns>False when a stretch is longer than the limit.</returns>
    public bool Take(ReadOnlySpan<char> text)
    {
        while (!text.IsEmpty)
        {
            var taken = _end is not null ? TakeEnclosed(text) : _opening != NotOpening ? TakeOpening(text[0]) : TakePlain(text);
            if (_length > limit)
                return false;
            text = text[taken..];
        }

        return true;
    }

    private int TakePlain(ReadOnlySpan<char> text)
    {
        var bracket = text.IndexOf('<');
        _length += bracket < 0 ? text.Length : bracket;
        if (bracket < 0 || _length > limit)
            return text.Length;

        _length = 0;
        _opening = 0;
        return bracket + 1;
    }

    // One letter behind a bracket, or none when it is the beginning of something else.
    private int TakeOpening(char letter)
    {
        if (_opening == 1)
            _start = letter == CommentStart[1] ? CommentStart : SectionStart;
        if (letter != _start[_opening])
        {
            _opening = NotOpening;
            return 0;
        }

        _length++;
        if (++_opening == _start.Length)
        {
            _opening = NotOpening;
            _end = _start == CommentStart ? CommentEnd : SectionEnd;
            _endLetters = 0;
        }

        return 1;
    }

    private int TakeEnclosed(ReadOnlySpan<char> text)
    {
        for (var i = 0; i < text.Length; i++)
        {
            _length++;
            if (text[i] == '>' && _endLetters >= 2)
            {
                _end = null;
                return i + 1;
            }

            _endLetters = text[i] == _end ? _endLetters + 1 : 0;
        }

        return text.Length;
    }
}
