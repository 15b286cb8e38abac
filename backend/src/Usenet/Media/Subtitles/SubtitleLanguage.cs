namespace Sluice.Usenet.Media.Subtitles;

/// <summary>A language that the name of a subtitle file may state.</summary>
/// <param name="Code">ISO 639-1 code.</param>
/// <param name="CodePage">The Windows code page of the language's script.</param>
internal sealed record SubtitleLanguage(string Code, int CodePage)
{
    // Code, code page, and the other words for the language: ISO 639-2 codes, then the names in use.
    private static readonly Dictionary<string, SubtitleLanguage> Words = Read(
        """
        ar 1256 ara arabic
        bg 1251 bul bulgarian
        bs 1250 bos bosnian
        ca 1252 cat catalan
        cs 1250 ces cze czech
        da 1252 dan danish dansk
        de 1252 deu ger german deutsch
        el 1253 ell gre greek
        en 1252 eng english
        es 1252 spa spanish espanol castellano latino
        et 1257 est estonian
        eu 1252 eus baq basque
        fa 1256 fas per persian farsi
        fi 1252 fin finnish suomi
        fr 1252 fra fre french francais vff vfq
        gl 1252 glg galician
        he 1255 heb hebrew
        hr 1250 hrv croatian hrvatski
        hu 1250 hun hungarian magyar
        hi 1252 hin hindi
        id 1252 ind indonesian
        is 1252 isl ice icelandic
        it 1252 ita italian italiano
        ja 932 jpn japanese
        ko 949 kor korean
        lt 1257 lit lithuanian
        lv 1257 lav latvian
        mk 1251 mkd mac macedonian
        ms 1252 msa may malay
        nl 1252 nld dut dutch nederlands
        no 1252 nor nob nb norwegian norsk
        pl 1250 pol polish polski
        pt 1252 por pob ptbr portuguese brazilian portugues
        ro 1250 ron rum romanian
        ru 1251 rus russian
        sk 1250 slk slo slovak
        sl 1250 slv slovenian
        sq 1250 sqi alb albanian
        sr 1251 srp serbian
        sv 1252 swe swedish svenska
        th 874 tha thai
        tr 1254 tur turkish
        uk 1251 ukr ukrainian
        vi 1258 vie vietnamese
        zh 936 zho chi chs cht chinese mandarin
        """);

    /// <summary>Finds a language by its code or name in any case; null if unknown.</summary>
    public static SubtitleLanguage? Find(string word) => Words.GetValueOrDefault(word);

    private static Dictionary<string, SubtitleLanguage> Read(string table)
    {
        var words = new Dictionary<string, SubtitleLanguage>(StringComparer.OrdinalIgnoreCase);
        foreach (var line in table.Split('\n', StringSplitOptions.TrimEntries))
        {
            var parts = line.Split(' ');
            var language = new SubtitleLanguage(parts[0], int.Parse(parts[1], System.Globalization.CultureInfo.InvariantCulture));
            words.Add(language.Code, language);
            foreach (var word in parts[2..])
                words.Add(word, language);
        }

        return words;
    }
}

/// <summary>Facts stated in the name of a subtitle file: <c>Film.2019.en.forced.srt</c>, <c>2_English.srt</c>. Pure; thread-safe.</summary>
/// <param name="Language">ISO 639-1 code; null if the name states none.</param>
/// <param name="IsForced">Whether the file has only the lines that every viewer needs, such as signs.</param>
/// <param name="DescribesSounds">Whether the file describes sounds, for hearing-impaired viewers.</param>
public sealed record SubtitleName(string? Language, bool IsForced, bool DescribesSounds)
{
    // The language and the marks are the last words. Earlier words belong to the title: "The.French.Dispatch.srt".
    private const int MaxWords = 4;

    private static readonly char[] Separators = ['.', '_', '-', ' ', '(', ')', '[', ']'];

    /// <summary>Reads the name of a subtitle file.</summary>
    /// <param name="name">Name with its extension.</param>
    /// <param name="film">The film's name, with or without extension. Words in both names belong to the title.</param>
    public static SubtitleName Parse(string name, string film)
    {
        ArgumentNullException.ThrowIfNull(name);
        ArgumentNullException.ThrowIfNull(film);
        var stem = Path.GetFileNameWithoutExtension(name);
        var title = Path.GetFileNameWithoutExtension(film);
        if (stem.StartsWith(title, StringComparison.OrdinalIgnoreCase))
            stem = stem[title.Length..];
        var words = stem.Split(Separators, StringSplitOptions.RemoveEmptyEntries);
        var found = new SubtitleName(null, false, false);
        foreach (var word in words.Reverse().Take(MaxWords))
        {
            if (word.Equals("forced", StringComparison.OrdinalIgnoreCase))
                found = found with { IsForced = true };
            else if (word.ToLowerInvariant() is "sdh" or "cc" || (word.Equals("hi", StringComparison.OrdinalIgnoreCase) && words.Length > 1))
                found = found with { DescribesSounds = true };
            else if (found.Language is null && IsWord(word) && SubtitleLanguage.Find(word) is { } language)
                found = found with { Language = language.Code };
        }

        return found;
    }

    /// <summary>Whether a word can be a language code. "It", "No" and "May" are title words; "it" and "ITA" are codes.</summary>
    private static bool IsWord(string word) => word.Length > 3 || word.All(char.IsAsciiLetterLower) || word.All(char.IsAsciiLetterUpper);
}
