namespace Sluice.Usenet.Media.Titles;

/// <summary>A word of a name.</summary>
/// <param name="Start">Index of the word's first character in the name.</param>
/// <param name="Bracket">The opening bracket around the word; zero if none.</param>
/// <param name="Group">Number of the bracket or unbracketed run that contains the word.</param>
/// <param name="IsAfterDash">Whether a free-standing dash precedes the word.</param>
/// <param name="IsAfterDot">Whether only a dot separates the word from the previous word.</param>
internal readonly record struct NameWord(int Start, int Length, char Bracket, int Group, bool IsAfterDash, bool IsAfterDot);

/// <summary>The words of a name. Dots separate words only in a name without spaces.</summary>
internal readonly ref struct NameWords
{
    /// <summary>Maximum number of words. Later words are ignored, because the title is at the start.</summary>
    public const int Most = 96;

    private readonly ReadOnlySpan<char> _name;
    private readonly ReadOnlySpan<NameWord> _words;

    public NameWords(ReadOnlySpan<char> name, Span<NameWord> buffer)
    {
        _name = name;
        _words = buffer[..Split(name, buffer)];
        HasTeam = _words.Length > 0 && _words[0].Bracket == '[';
    }

    public int Count => _words.Length;

    /// <summary>Whether the name starts with a release group in brackets, as anime names do.</summary>
    public bool HasTeam { get; }

    public NameWord this[int index] => _words[index];

    /// <summary>The characters of a word; empty past the last word.</summary>
    public ReadOnlySpan<char> Text(int index) =>
        index >= 0 && index < _words.Length ? _name.Slice(_words[index].Start, _words[index].Length) : default;

    /// <summary>Whether the word equals <paramref name="word"/>, ignoring case.</summary>
    public bool Is(int index, string word) => Text(index).Equals(word, StringComparison.OrdinalIgnoreCase);

    /// <summary>Returns the index of the first word after a leading release group.</summary>
    public int FirstOfTitle()
    {
        var first = 0;
        while (HasTeam && first < Count && _words[first].Group == _words[0].Group)
            first++;
        return first;
    }

    /// <summary>Joins words into a title. Single letters between dots stay an acronym: "S.O.S. Northwind".</summary>
    public string Join(int first, int end)
    {
        Span<char> buffer = stackalloc char[ReleaseTitle.MaxLength * 2];
        var length = 0;
        for (var i = first; i < end; i++)
        {
            var isLetter = IsLetter(i);
            if (i > first)
            {
                var gap = _words[i].IsAfterDash ? " - " : isLetter && IsLetter(i - 1) ? "" : " ";
                gap.CopyTo(buffer[length..]);
                length += gap.Length;
            }

            Text(i).CopyTo(buffer[length..]);
            length += Text(i).Length;
            if (isLetter && ((i > first && IsLetter(i - 1)) || (i + 1 < end && IsLetter(i + 1))))
                buffer[length++] = '.';
        }

        return new string(buffer[..length].Trim(" -,"));
    }

    private bool IsLetter(int index) => Text(index) is [var letter] && char.IsLetter(letter) && letter < 128
        && (_words[index].IsAfterDot || (index + 1 < Count && _words[index + 1].IsAfterDot));

    private static int Split(ReadOnlySpan<char> name, Span<NameWord> words)
    {
        var spaces = name.Count(' ');
        var hasDots = spaces == 0 || name.Count('.') > spaces * 2;
        var hasHyphens = spaces == 0 && name.IndexOfAny('.', '_') < 0 && name.Count('-') >= 3;
        var (count, start, group, bracket, isAfterDash, isAfterDot) = (0, 0, 0, '\0', false, false);
        for (var i = 0; i <= name.Length && count < words.Length; i++)
        {
            var end = i == name.Length;
            var isDot = !end && hasDots && name[i] == '.';
            if (!end && !isDot && !IsSeparator(name[i]) && !(hasHyphens && name[i] == '-'))
                continue;
            var word = name[start..i];
            if (word is "-" or "–" or "—")
            {
                isAfterDash = true;
            }
            else if (word.Length > 0)
            {
                words[count++] = new NameWord(start, word.Length, bracket, group, isAfterDash, isAfterDot);
                isAfterDash = false;
            }

            isAfterDot = isDot && word.Length > 0;
            start = i + 1;
            if (!end && name[i] is '(' or '[' or '{')
                (bracket, group) = (name[i], group + 1);
            else if (!end && name[i] is ')' or ']' or '}')
                (bracket, group) = ('\0', group + 1);
        }

        return count;
    }

    private static bool IsSeparator(char c) => c is ' ' or '_' or '+' or '(' or ')' or '[' or ']' or '{' or '}' or '"' or '\t';
}
