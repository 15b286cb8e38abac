using System.Globalization;
using System.Text;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Database;

/// <summary>Folds names for search and sorting (ADM-4): lower case, no accents, separators as spaces. "big buck" finds <c>Big.Buck_Bunny</c>.</summary>
internal static class SearchText
{
    /// <summary>Maximum words of a search. More words would hardly narrow it.</summary>
    public const int MaxWords = 8;

    // Long enough for a whole path. More text would hardly narrow the search.
    private const int MaxQuery = 400;

    public static string Fold(string text)
    {
        var folded = new StringBuilder(text.Length);
        foreach (var c in NfcName.Decompose(text))
        {
            if (CharUnicodeInfo.GetUnicodeCategory(c) == UnicodeCategory.NonSpacingMark)
                continue;
            if (c is '.' or '_' or '-' or '/' || char.IsWhiteSpace(c) || char.IsControl(c))
            {
                if (folded.Length > 0 && folded[^1] != ' ')
                    folded.Append(' ');
                continue;
            }

            Append(folded, char.ToLowerInvariant(c));
        }

        return folded.ToString().TrimEnd(' ');
    }

    /// <summary>Returns the folded words of a search, longest first, because long words rule out most rows.</summary>
    public static IReadOnlyList<string> WordsOf(string? query) =>
    [
        .. Fold(query is { Length: > MaxQuery } ? query[..MaxQuery] : query ?? "")
            .Split(' ', StringSplitOptions.RemoveEmptyEntries)
            .Distinct()
            .OrderByDescending(word => word.Length)
            .Take(MaxWords),
    ];

    public static bool ContainsWords(ReadOnlySpan<byte> text, ReadOnlySpan<byte> words)
    {
        foreach (var word in words.Split((byte)' '))
        {
            if (text.IndexOf(words[word]) < 0)
                return false;
        }

        return true;
    }

    /// <summary>Replaces letters without a Unicode decomposition, because people type them as plain letters.</summary>
    private static void Append(StringBuilder folded, char letter) => _ = letter switch
    {
        'ß' => folded.Append("ss"),
        'æ' => folded.Append("ae"),
        'œ' => folded.Append("oe"),
        'ø' => folded.Append('o'),
        'ł' => folded.Append('l'),
        'đ' or 'ð' => folded.Append('d'),
        'ı' => folded.Append('i'),
        _ => folded.Append(letter),
    };
}
