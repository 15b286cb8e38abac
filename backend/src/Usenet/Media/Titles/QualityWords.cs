using System.Collections.Frozen;
using System.Globalization;

namespace Sluice.Usenet.Media.Titles;

/// <summary>Recognizes the words for resolution, source and codec in a release name. Pure.</summary>
internal static class QualityWords
{
    private const string UltraHd = "2160p";
    private const string BluRay = "Blu-ray";
    private const string Remux = "Remux";

    // Words that never occur in a title, so the title ends before them.
    private static readonly FrozenDictionary<string, string> Sources = Table(
        (BluRay, "bluray blu-ray bdrip brrip bd-rip br-rip bdmux mbluray bd25 bd50 bdr uhdbd uhd-bd bdiso"),
        (Remux, "remux bdremux bd-remux uhdremux"),
        ("WEB-DL", "webdl web-dl webhd"),
        ("WEBRip", "webrip web-rip web-dlrip webdlrip webcap"),
        ("HDTV", "hdtv hdtvrip hd-tv uhdtv"),
        ("TV", "pdtv sdtv dsr dsrip tvrip satrip dvbrip dthrip dvb-rip ahdtv"),
        ("DVD", "dvdrip dvd-rip dvd5 dvd9 dvdr dvd-r dvdmux dvdfull"),
        ("HD DVD", "hddvd hd-dvd hddvdrip"),
        ("HDRip", "hdrip hd-rip"),
        ("CAM", "hdcam camrip cam-rip"),
        ("TS", "telesync hdts hd-ts tsrip ts-rip"),
        ("TC", "telecine hdtc"),
        ("Screener", "dvdscr screener bdscr dvdscreener webscr"),
        ("VHS", "vhsrip vhs-rip"),
        ("LaserDisc", "ldrip"),
        ("Workprint", "workprint"));

    // Words that also occur in titles, so they count only after the title.
    private static readonly FrozenDictionary<string, string> Doubtful = Table(
        ("WEB", "web"), (BluRay, "bd"), ("DVD", "dvd"), ("TS", "ts"), ("CAM", "cam"), ("TC", "tc"), ("Screener", "scr"), ("R5", "r5"), ("VHS", "vhs"));

    private static readonly FrozenDictionary<string, string> Codecs = Table(
        ("codec", "x264 x265 h264 h265 h.264 h.265 x.264 x.265 hevc avc xvid divx av1 vp9 10bit 8bit mpeg2 mpeg-2 vc-1 hi10p"));

    private static readonly FrozenDictionary<string, string> Sizes = Table(
        ("4320p", "8k 7680x4320"), (UltraHd, "4k uhd 4klight uhdrip 3840x2160 4096x2160"), ("1080p", "1920x1080 fullhd"), ("720p", "1280x720"), ("480p", "720x480"), ("576p", "720x576"));

    /// <summary>Whether a word always denotes quality, so that the title ends before it.</summary>
    public static bool IsSure(NameWords words, int index)
    {
        var text = words.Text(index);
        if (IsSure(text) || (words[index].Bracket != '\0' && (Has(Sizes, text) || Has(Doubtful, text))))
            return true;
        if (text is ['h' or 'H' or 'x' or 'X'] && words.Text(index + 1) is ['2', '6', '4' or '5', ..])
            return true;

        // "x264-TEAM", "Bluray-1080p".
        var dash = text.IndexOf('-');
        return dash > 0 && IsSure(text[..dash]);
    }

    /// <summary>Whether a word denotes a source but also occurs in titles.</summary>
    public static bool IsDoubtful(ReadOnlySpan<char> text) => Has(Doubtful, text) || Has(Sizes, text);

    /// <summary>Describes resolution and source from the words after the title; null if neither is present.</summary>
    public static string? Describe(NameWords words, int start)
    {
        string? resolution = null, size = null, source = null, doubtful = null;
        for (var i = start; i < words.Count; i++)
        {
            var text = words.Text(i);
            var last = text.LastIndexOf('-');
            if (Take(text) || last < 0)
                continue;

            // The last part of the last word is the release group, unless it is a resolution: "WEB-DL-TEAM", "Bluray-720p".
            if (Resolution(text[(last + 1)..]) is not null || words[i].Bracket != '\0')
                Take(text[(last + 1)..]);
            text = text[..last];
            if (Take(text))
                continue;
            foreach (var part in text.Split('-'))
                Take(text[part]);
        }

        resolution ??= size;
        source ??= doubtful;
        return (resolution, source) switch
        {
            (null, _) => source,
            (_, null) => resolution,
            _ => $"{resolution} {source}",
        };

        bool Take(ReadOnlySpan<char> text)
        {
            if (Resolution(text) is { } lines)
                resolution ??= lines;
            else if (Find(Sources, text) is { } sure)
                source = source is null || sure == Remux ? sure : source;
            else if (Find(Sizes, text) is { } named)
                size ??= named;
            else if (Find(Doubtful, text) is { } maybe && !IsOfTitle(text))
                doubtful = maybe;
            else
                return false;
            return true;
        }
    }

    /// <summary>Whether a word is capitalized as in a title: "Web", not "WEB", "web" or "WEb".</summary>
    public static bool IsOfTitle(ReadOnlySpan<char> text) => char.IsUpper(text[0])
        && text[1..].IndexOfAnyInRange('a', 'z') >= 0 && text[1..].IndexOfAnyInRange('A', 'Z') < 0;

    private static bool IsSure(ReadOnlySpan<char> text) => Resolution(text) is not null || Has(Sources, text) || Has(Codecs, text);

    private static string? Resolution(ReadOnlySpan<char> text) =>
        text.Length is 4 or 5 && text[^1] is 'p' or 'i' or 'P' or 'I' && int.TryParse(text[..^1], NumberStyles.None, CultureInfo.InvariantCulture, out var lines)
            ? (lines, (char)(text[^1] | 0x20)) switch
            {
                (480, 'p') => "480p",
                (480, _) => "480i",
                (540, 'p') => "540p",
                (576, 'p') => "576p",
                (576, _) => "576i",
                (720, 'p') => "720p",
                (1080, 'p') => "1080p",
                (1080, _) => "1080i",
                (1440, 'p') => "1440p",
                (2160, 'p') => UltraHd,
                (4320, 'p') => "4320p",
                _ => null,
            }
            : null;

    private static bool Has(FrozenDictionary<string, string> table, ReadOnlySpan<char> text) => Find(table, text) is not null;

    private static string? Find(FrozenDictionary<string, string> table, ReadOnlySpan<char> text) =>
        table.GetAlternateLookup<ReadOnlySpan<char>>().TryGetValue(text, out var shown) ? shown : null;

    private static FrozenDictionary<string, string> Table(params ReadOnlySpan<(string Shown, string Words)> rows)
    {
        var table = new Dictionary<string, string>(StringComparer.OrdinalIgnoreCase);
        foreach (var (shown, words) in rows)
        {
            foreach (var word in words.Split(' '))
                table.Add(word, shown);
        }

        return table.ToFrozenDictionary(StringComparer.OrdinalIgnoreCase);
    }
}
