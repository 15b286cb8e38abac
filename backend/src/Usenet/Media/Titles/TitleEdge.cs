using System.Collections.Frozen;

namespace Sluice.Usenet.Media.Titles;

/// <summary>Finds where a title ends and edition words begin. Pure.</summary>
internal static class TitleEdge
{
    // Edition words, which may also precede the year.
    private static readonly FrozenSet<string> Editions = Set("3d imax unrated uncut remastered theatrical extended directors director's final cut edition dc");

    // A title may end in one of these words, capitalized like any other: "Proper Manners", "Lost in Multi".
    private static readonly FrozenSet<string> Marks = Set(
        "proper repack rerip real limited internal complete multi dual dubbed subbed subs docu documentary hybrid criterion festival retail readnfo uncensored "
        + "custom dl ml ac3 dts hdr hdr10 dv sdr hsbs sbs ou hou vff vf2 vfq vostfr truefrench subfrench eac3 aac dd5 ddp5 amzn nf dsnp hmax atvp hulu pcok pmtp batch bdmv");

    // Names without a year or number may capitalize a language, so in such names these words end a title in any case.
    private static readonly FrozenSet<string> Languages = Set(
        "german french spanish italian english norwegian swedish danish finnish nordic dutch flemish portuguese brazilian polish czech russian ukrainian turkish japanese korean "
        + "chinese mandarin cantonese hindi tamil telugu hungarian romanian greek hebrew arabic thai vietnamese icelandic latino castellano");

    /// <summary>Returns the end of a title without trailing edition words. At least one word remains.</summary>
    public static int Trim(NameWords words, int first, int end, bool isBeforeYear, bool isBeforeNumbers)
    {
        var whole = end;
        while (end - first > 1)
        {
            var text = words.Text(end - 1);
            if (end - first > 2 && words.Is(end - 1, "series") && words.Is(end - 2, "complete"))
            {
                end -= end - first > 3 && words.Is(end - 3, "the") ? 3 : 2;
                whole = end;
                continue;
            }

            var isEdition = Has(Editions, text) && (!isBeforeNumbers || !QualityWords.IsOfTitle(text));
            var isMark = !isBeforeYear && !QualityWords.IsOfTitle(text) && (Has(Marks, text) || QualityWords.IsDoubtful(text) || Has(Languages, text));
            var isLanguage = !isBeforeYear && !isBeforeNumbers && Has(Languages, text);
            if (!(isEdition || isMark || isLanguage))
                break;
            end--;
        }

        // "The Final Cut" is a title, and so is "The French".
        return words.Is(end - 1, "the") ? whole : end;
    }

    private static bool Has(FrozenSet<string> set, ReadOnlySpan<char> text) => set.GetAlternateLookup<ReadOnlySpan<char>>().Contains(text);

    private static FrozenSet<string> Set(string words) => words.Split(' ').ToFrozenSet(StringComparer.OrdinalIgnoreCase);
}
