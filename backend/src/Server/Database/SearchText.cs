using System.Globalization;
using System.Text;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Database;

/// <summary>
/// The form in which names are searched and sorted for people (ADM-4): lower case, without accents, and one space for everything that parts
/// words, so that "big buck" is found in <c>Big.Buck_Bunny</c>.
/// </summary>
internal static class SearchText
{
    /// <summary>Words of a search that count; more would only repeat them.</summary>
    public const int MaxWords = 8;

    // A whole path has some hundreds; what comes behind finds nothing that they do not.
    private const int MaxQuery = 400;

    /// <summary>Folds a text.</summary>
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

    /// <summary>The words of a search, folded, the longest first, because that is the one that most texts do not have.</summary>
    public static IReadOnlyList<string> WordsOf(string? query) =>
    [
        .. Fold(query is { Length: > MaxQuery } ? query[..MaxQuery] : query ?? "")
            .Split(' ', StringSplitOptions.RemoveEmptyEntries)
            .Distinct()
            .OrderByDescending(word => word.Length)
            .Take(MaxWords),
    ];

    /// <summary>Whether a folded text holds every word of a search.</summary>
    /// <param name="text">UTF-8.</param>
    /// <param name="words">Folded words with a space between them, UTF-8.</param>
    public static bool ContainsWords(ReadOnlySpan<byte> text, ReadOnlySpan<byte> words)
    {
        foreach (var word in words.Split((byte)' '))
        {
            if (text.IndexOf(words[word]) < 0)
                return false;
        }

        return true;
    }

    /// <summary>Letters whose stroke or tie is no accent of Unicode are written as those that people type for them.</summary>
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
