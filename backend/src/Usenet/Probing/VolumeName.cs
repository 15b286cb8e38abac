using System.Globalization;

namespace Sluice.Usenet.Probing;

/// <summary>What the name of one volume of an archive or split file says by custom.</summary>
/// <param name="Set">The name of the set in lower case, with the kind of its volumes: equal for all volumes of one set.</param>
/// <param name="Number">Order of the volume in its set; the first is the lowest there is.</param>
internal readonly record struct VolumeName(string Set, int Number)
{
    /// <summary>
    /// Recognises <c>.partNN.rar</c>, <c>.rar</c>, <c>.rNN</c> to <c>.zNN</c>, <c>.7z</c>, <c>.zip</c>, <c>.zNN</c> and
    /// <c>.NNN</c>, with or without the extension of an archive before the number.
    /// </summary>
    public static VolumeName? Parse(string name)
    {
        var dot = name.LastIndexOf('.');
        if (dot < 1)
            return null;

        var stem = name[..dot].ToLowerInvariant();
        var extension = name[(dot + 1)..].ToLowerInvariant();
        return extension switch
        {
            "rar" => Numbered(stem) ?? new VolumeName(stem + "|rar", -1),
            "7z" => new VolumeName(stem + "|7z", 0),
            "zip" => new VolumeName(stem + "|zip", int.MaxValue),
            [>= 'r' and <= 'y', _, _] when Digits(extension[1..]) is { } number =>
                new VolumeName(stem + "|rar", (extension[0] - 'r') * 100 + number),
            ['z', _, _] when Digits(extension[1..]) is { } number => new VolumeName(stem + "|zip", number),
            [_, _, _] when Digits(extension) is { } number => new VolumeName(stem + "|split", number),
            _ => null,
        };
    }

    // stem.part07 of stem.part07.rar
    private static VolumeName? Numbered(string stem)
    {
        var part = stem.LastIndexOf(".part", StringComparison.Ordinal);
        return part > 0 && Digits(stem[(part + 5)..]) is { } number ? new VolumeName(stem[..part] + "|part", number) : null;
    }

    private static int? Digits(string text) =>
        text.Length is > 0 and <= 5 && int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var number) ? number : null;
}
