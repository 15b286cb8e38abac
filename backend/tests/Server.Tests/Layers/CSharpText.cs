using System.Text;

namespace Sluice.Server.Tests.Layers;

/// <summary>Blanks comments and literals, so that a word in them does not count as an import.</summary>
internal static class CSharpText
{
    /// <summary>
    /// Returns the text with each comment and literal replaced by one space and its line ends. The holes of interpolated strings stay,
    /// because they are code.
    /// </summary>
    public static string WithoutCommentsAndStrings(string text)
    {
        var code = new StringBuilder(text.Length);
        var at = 0;
        while (at < text.Length)
            at = CopyOne(text, at, code);
        return code.ToString();
    }

    /// <summary>Copies one character of code, or skips one comment or literal; returns the position after it.</summary>
    private static int CopyOne(string text, int at, StringBuilder code)
    {
        if (Starts(text, at, "//"))
        {
            var end = text.IndexOf('\n', at);
            return end < 0 ? text.Length : end;
        }
        if (Starts(text, at, "/*"))
        {
            var end = text.IndexOf("*/", at + 2, StringComparison.Ordinal) is >= 0 and var close ? close + 2 : text.Length;
            code.Append(' ').Append('\n', text.AsSpan(at..end).Count('\n'));
            return end;
        }
        if (text[at] == '\'')
            return SkipCharacter(text, at, code);
        if (LiteralAt(text, at) is { } literal)
            return SkipText(text, at, literal, code);
        code.Append(text[at]);
        return at + 1;
    }

    private static int SkipCharacter(string text, int at, StringBuilder code)
    {
        code.Append(' ');
        at++;
        while (at < text.Length && text[at] != '\'' && text[at] != '\n')
            at += text[at] == '\\' ? 2 : 1;
        return at + 1;
    }

    /// <summary>Returns the form of the literal that starts here, or null if none does.</summary>
    private static Literal? LiteralAt(string text, int at)
    {
        var dollars = 0;
        var verbatim = false;
        var start = at;
        while (at < text.Length && text[at] is '$' or '@')
        {
            if (text[at] == '$') dollars++;
            else verbatim = true;
            at++;
            if (at >= text.Length) return null;
        }
        var quotes = 0;
        while (at + quotes < text.Length && text[at + quotes] == '"')
            quotes++;
        if (quotes == 0)
            return null;
        // Two quotes are an empty string; three or more start a raw string.
        var raw = quotes >= 3 && !verbatim;
        return new Literal(at - start, raw ? quotes : 1, dollars, verbatim, raw);
    }

    private static int SkipText(string text, int at, Literal literal, StringBuilder code)
    {
        code.Append(' ');
        at += literal.Prefix + literal.Quotes;
        while (at < text.Length)
        {
            if (literal.Raw)
            {
                if (Starts(text, at, new string('"', literal.Quotes)))
                    return at + literal.Quotes;
            }
            else if (literal.Verbatim && Starts(text, at, "\"\""))
            {
                at += 2;
                continue;
            }
            else if (!literal.Verbatim && text[at] == '\\')
            {
                at += 2;
                continue;
            }
            else if (text[at] == '"')
            {
                return at + 1;
            }
            if (text[at] == '\n')
                code.Append('\n');
            at = literal.Dollars > 0 && text[at] == '{' ? CopyHole(text, at, literal, code) : at + 1;
        }
        return at;
    }

    /// <summary>Copies the code of one hole, or skips braces that are text.</summary>
    private static int CopyHole(string text, int at, Literal literal, StringBuilder code)
    {
        var open = 0;
        while (at + open < text.Length && text[at + open] == '{')
            open++;
        if (literal.Raw ? open < literal.Dollars : open % 2 == 0)
            return at + open;
        at += open;
        code.Append(' ');
        for (var depth = 1; at < text.Length;)
        {
            if (text[at] == '{') depth++;
            if (text[at] == '}' && --depth == 0) break;
            at = CopyOne(text, at, code);
        }
        code.Append(' ');
        return at + 1;
    }

    private static bool Starts(string text, int at, string value) =>
        string.CompareOrdinal(text, at, value, 0, value.Length) == 0;

    private readonly record struct Literal(int Prefix, int Quotes, int Dollars, bool Verbatim, bool Raw);
}
