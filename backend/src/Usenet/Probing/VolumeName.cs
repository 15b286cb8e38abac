using System.Globalization;

namespace Sluice.Usenet.Probing;

/// <summary>The archive format implied by a volume name.</summary>
internal enum VolumeFormat
{
    /// <summary>Pieces of any file; the first piece shows the kind.</summary>
    Split,

    Rar,

    SevenZip,

    Zip,
}

/// <summary>The numbering schemes of volumes.</summary>
internal enum VolumeNaming
{
    /// <summary><c>.part01.rar</c>: RAR's new naming.</summary>
    Parts,

    /// <summary><c>.rar .r00 … .r99 .s00</c>: RAR's old naming; also a lone <c>.rar</c>.</summary>
    Letters,

    /// <summary><c>.001</c> after any name.</summary>
    Numbers,

    /// <summary><c>.z01 … .zip</c>; also a lone <c>.zip</c>.</summary>
    Zip,

    /// <summary>A lone <c>.7z</c>.</summary>
    Single,

    /// <summary><c>-01</c>, <c>.1</c>: used for ordering only, because the number may belong to the title.</summary>
    Loose,
}

/// <summary>The parsed name of one volume of an archive or split file. All such naming rules are in this type. Pure.</summary>
/// <param name="Set">The set name in lower case plus a mark for its kind; equal for all volumes of one set.</param>
/// <param name="Number">0 for the usual first volume, −1 if the set starts one lower; gaps are unposted volumes.</param>
internal readonly record struct VolumeName(string Set, int Number, VolumeFormat Format, VolumeNaming Naming)
{
    // The .zip of a split zip, which always comes last.
    private const int Last = int.MaxValue;

    // Letters go from r to y, because zip uses z.
    private const int VolumesPerLetter = 100;

    /// <summary>The name of the packed or split file as posted: <c>film</c>, <c>film.mkv</c>.</summary>
    public required string Stem { get; init; }

    /// <summary>
    /// Recognizes <c>.partNN.rar</c> (and <c>.exe</c>), <c>.rar</c>, <c>.rNN</c> to <c>.yNN</c>, <c>.7z</c>, <c>.zip</c>, <c>.zNN</c> and
    /// <c>.NNN</c>, the last with or without an archive extension before it, and <c>.N</c> after an archive extension or an obfuscated name.
    /// </summary>
    /// <returns>Null for any other name.</returns>
    public static VolumeName? Parse(string? name)
    {
        if (Split(name, '.') is not var (stem, extension))
            return null;

        switch (extension)
        {
            case "rar" or "exe" when Split(stem, ".part") is var (title, part) && Digits(part) is { } number:
                return Make(title, "|part", number - 1, VolumeFormat.Rar, VolumeNaming.Parts);
            case "rar":
                return Make(stem, "|rar", 0, VolumeFormat.Rar, VolumeNaming.Letters);
            case "7z":
                return Make(stem, "|7z", 0, VolumeFormat.SevenZip, VolumeNaming.Single);
            case "zip":
                return Make(stem, "|zip", Last, VolumeFormat.Zip, VolumeNaming.Zip);
            case [>= 'r' and <= 'y', _, _] or ['r', _, _, _] when Digits(extension[1..]) is { } number:
                return Make(stem, "|rar", (extension[0] - 'r') * VolumesPerLetter + number + 1, VolumeFormat.Rar, VolumeNaming.Letters);
            case ['z', _, _] or ['z', _, _, _] when Digits(extension[1..]) is { } number:
                return Make(stem, "|zip", number - 1, VolumeFormat.Zip, VolumeNaming.Zip);
        }

        var format = FormatOf(stem);
        return Digits(extension) is { } piece && (extension.Length == 3 || format != VolumeFormat.Split || NameJudge.IsObfuscatedStem(stem))
            ? Make(format == VolumeFormat.Split ? stem : stem[..stem.LastIndexOf('.')], $"{ExtensionOf(format)}|split", piece - 1, format, VolumeNaming.Numbers)
            : null;
    }

    /// <summary>Finds a possible volume number: <c>-NN</c>, <c>_NN</c> or <c>.NN</c> at the end or before an archive extension; null if none.</summary>
    public static VolumeName? ParseLoose(string? name)
    {
        if (name is null)
            return null;
        var format = FormatOf(name);
        var stem = format == VolumeFormat.Split ? name : name[..name.LastIndexOf('.')];
        var mark = stem.LastIndexOfAny(['-', '_', '.']);
        return mark > 0 && Digits(stem[(mark + 1)..]) is { } number
            ? Make(stem[..mark], $"{ExtensionOf(format)}|loose", number - 1, format, VolumeNaming.Loose)
            : null;
    }

    private static VolumeName Make(string stem, string kind, int number, VolumeFormat format, VolumeNaming naming) =>
        new(stem.ToLowerInvariant() + kind, number, format, naming) { Stem = stem };

    /// <summary>Returns the text before the last mark and the text after it in lower case; null if either is empty.</summary>
    private static (string Stem, string Ending)? Split(string? name, char mark) => Split(name, mark.ToString());

    private static (string Stem, string Ending)? Split(string? name, string mark)
    {
        var at = name?.LastIndexOf(mark, StringComparison.OrdinalIgnoreCase) ?? -1;
        return at > 0 && at + mark.Length < name!.Length ? (name[..at], name[(at + mark.Length)..].ToLowerInvariant()) : null;
    }

    private static VolumeFormat FormatOf(string name) => Split(name, '.')?.Ending switch
    {
        "rar" => VolumeFormat.Rar,
        "7z" => VolumeFormat.SevenZip,
        "zip" => VolumeFormat.Zip,
        _ => VolumeFormat.Split,
    };

    private static string ExtensionOf(VolumeFormat format) => format switch
    {
        VolumeFormat.Rar => ".rar",
        VolumeFormat.SevenZip => ".7z",
        VolumeFormat.Zip => ".zip",
        _ => "",
    };

    private static int? Digits(string text) =>
        text.Length is > 0 and <= 5 && int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var number) ? number : null;
}
