namespace Sluice.Usenet.Nzb;

/// <summary>
/// Measures how much an XML reader must buffer: the characters between two <c>&lt;</c>. A <c>&lt;</c> inside a CDATA section or a comment does not count (XML
/// 1.0 sections 2.5 and 2.7).
/// </summary>
/// <remarks>Accepts the text in chunks of any size. Not thread-safe.</remarks>
internal sealed class NzbMarkupMeter(int limit)
{
    // The text after '<', and the letter repeated before the final '>': "]]>" and "-->".
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

    /// <summary>Measures the next characters; returns false if the limit is exceeded.</summary>
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

    // Consumes one letter after '<', or none if the letter starts other markup.
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
