using System.Globalization;

namespace Sluice.Usenet.Probing;

/// <summary>The format that the name of a volume hints at.</summary>
internal enum VolumeFormat
{
    /// <summary>Pieces of anything; what it is shows the first of them.</summary>
    Split,

    /// <summary>RAR of any version.</summary>
    Rar,

    /// <summary>7z.</summary>
    SevenZip,

    /// <summary>zip.</summary>
    Zip,
}

/// <summary>The customs by which volumes are numbered.</summary>
internal enum VolumeNaming
{
    /// <summary><c>.part01.rar</c>: RAR's new naming.</summary>
    Parts,

    /// <summary><c>.rar .r00 … .r99 .s00</c>: RAR's old naming; a lone <c>.rar</c> as well.</summary>
    Letters,

    /// <summary><c>.001</c> behind any name.</summary>
    Numbers,

    /// <summary><c>.z01 … .zip</c>; a lone <c>.zip</c> as well.</summary>
    Zip,

    /// <summary>A lone <c>.7z</c>.</summary>
    Single,

    /// <summary><c>-01</c>, <c>.1</c>: a number that may as well be a part of the title, so that it is good for the order alone.</summary>
    Loose,
}

/// <summary>What the name of one volume of an archive or split file says by custom. The one place that knows such names. Pure.</summary>
/// <param name="Set">The name of the set in lower case, with the kind of its volumes: equal for all volumes of one set.</param>
/// <param name="Number">Its place in the set: 0 for the first by custom, −1 where a set counts from one lower; gaps are volumes that were not posted.</param>
/// <param name="Format">What it is a volume of.</param>
/// <param name="Naming">The custom.</param>
internal readonly record struct VolumeName(string Set, int Number, VolumeFormat Format, VolumeNaming Naming)
{
    // The volume of a split zip that comes last whatever the number of the others.
    private const int Last = int.MaxValue;

    // Letters go from r to y, as z is taken by zip.
    private const int VolumesPerLetter = 100;

    /// <summary>The name of what was packed or cut, in the letters in which it was posted: <c>film</c>, <c>film.mkv</c>.</summary>
    public required string Stem { get; init; }

    /// <summary>
    /// Recognises <c>.partNN.rar</c> (and <c>.exe</c>), <c>.rar</c>, <c>.rNN</c> to <c>.yNN</c>, <c>.7z</c>, <c>.zip</c>, <c>.zNN</c>, <c>.NNN</c>, with or
    /// without the extension of an archive before the number, and <c>.N</c> behind an archive or a name that hides what it is.
    /// </summary>
    /// <returns>Null for names that do not say that they are volumes.</returns>
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

    /// <summary>Finds a number that may be that of a volume: <c>-NN</c>, <c>_NN</c> or <c>.NN</c> at the end, or before the extension of an archive.</summary>
    /// <returns>Null for names that have none.</returns>
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

    /// <summary>What is before the last mark, and what is behind it in lower case; null where either is empty.</summary>
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
