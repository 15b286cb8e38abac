using System.Globalization;
using Sluice.Tools.MockNntpServer.Articles;

namespace Sluice.Tools.MockNntpServer.Layouts;

/// <param name="Usual">Original names, as given by the archiver.</param>
internal sealed record VolumeNames(IReadOnlyList<string> Posted, IReadOnlyList<string> Usual)
{
    private const int OldPerLetter = 100;

    public static VolumeNames Of(ArchiveLayout layout, int count, ulong seed)
    {
        var first = layout.Entries.Count > 0 ? Path.GetFileName(layout.Entries[0].Path) : "archive";
        var stem = layout.Stem ?? (layout.Format == LayoutFormat.Split ? first : Path.GetFileNameWithoutExtension(first));
        string[] usual = [.. Enumerable.Range(0, count).Select(index => stem + Extension(layout, index, count))];
        return new VolumeNames(
            layout.Naming switch
            {
                VolumeNaming.Numbers => [.. Enumerable.Range(1, count).Select(number => $"{Hex(seed, 0)}.{number.ToString(CultureInfo.InvariantCulture)}")],
                VolumeNaming.Random => [.. Enumerable.Range(0, count).Select(index => Hex(seed, index))],
                _ => usual,
            },
            usual);
    }

    /// <summary>Returns an obfuscated name of 32 hexadecimal digits.</summary>
    public static string Hex(ulong seed, int index) =>
        SyntheticContent.Mix(seed ^ SyntheticContent.Mix((ulong)index + 0x6F62)).ToString("x16", CultureInfo.InvariantCulture)
        + SyntheticContent.Mix(seed + (ulong)index).ToString("x16", CultureInfo.InvariantCulture);

    private static string Extension(ArchiveLayout layout, int index, int count) => layout.Format switch
    {
        LayoutFormat.Rar4 or LayoutFormat.Rar5 when layout.Naming == VolumeNaming.Old => OldRar(index),
        LayoutFormat.Rar4 or LayoutFormat.Rar5 => count == 1 ? ".rar" : $".part{Padded(index + 1, count.ToString(CultureInfo.InvariantCulture).Length)}.rar",
        LayoutFormat.SevenZip => count == 1 ? ".7z" : $".7z.{Padded(index + 1, 3)}",
        LayoutFormat.Zip => index == count - 1 ? ".zip" : $".z{Padded(index + 1, 2)}",
        LayoutFormat.Tar => ".tar",
        _ => $".{Padded(index + 1, 3)}",
    };

    private static string OldRar(int index) =>
        index == 0 ? ".rar" : $".{(char)('r' + ((index - 1) / OldPerLetter))}{Padded((index - 1) % OldPerLetter, 2)}";

    private static string Padded(int number, int digits) => number.ToString(CultureInfo.InvariantCulture).PadLeft(digits, '0');
}
