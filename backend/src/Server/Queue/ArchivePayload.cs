using Sluice.Server.History;
using Sluice.Usenet.Media;

namespace Sluice.Server.Queue;

/// <summary>Distinguishes releases whose payload is packed from releases with an archive beside the payload. Pure.</summary>
internal static class ArchivePayload
{
    private const string Detail = "this version plays files that are posted as they are";

    /// <summary>The name of an archive format that a file name stands for, or null.</summary>
    public static string? FormatOf(string? name)
    {
        if (name is null || name.LastIndexOf('.') is var dot && dot < 1)
            return null;

        var extension = name[(dot + 1)..].ToLowerInvariant();
        var before = name[..dot].ToLowerInvariant();
        return extension switch
        {
            "rar" or "cbr" => "RAR",
            ['r' or 's' or 't', >= '0' and <= '9', >= '0' and <= '9'] => "RAR",
            "7z" => "7z",
            "zip" or "zipx" or ['z', >= '0' and <= '9', >= '0' and <= '9'] => "zip",
            "tar" or "tgz" => "tar",
            "gz" or "bz2" or "xz" when before.EndsWith(".tar", StringComparison.Ordinal) => "tar",
            _ when !IsNumber(extension) => null,
            _ when before.EndsWith(".7z", StringComparison.Ordinal) => "7z",
            _ when before.EndsWith(".zip", StringComparison.Ordinal) => "zip",
            _ when before.EndsWith(".rar", StringComparison.Ordinal) => "RAR",
            _ => "Split",
        };
    }

    /// <summary>Judges by the names in the subjects alone, before anything is fetched.</summary>
    /// <param name="files">The payload. Here and below the number of segments stands for the size, because it cannot lie.</param>
    public static ImportFailure? RefuseByName(IReadOnlyList<PostedEntry> files) =>
        Refuse([.. files.Select(file => (FormatOf(file.SubjectName), (long)file.Segments))]);

    /// <summary>Judges by the kinds of the files.</summary>
    public static ImportFailure? Refuse(IReadOnlyList<ProbedEntry> files) =>
        Refuse([.. files.Select(file => (FormatOf(file), (long)file.Places.Count))]);

    private static string? FormatOf(ProbedEntry file) => file.Kind switch
    {
        MediaKind.Rar4 or MediaKind.Rar5 => "RAR",
        MediaKind.SevenZip => "7z",
        MediaKind.Zip => "zip",
        MediaKind.Tar or MediaKind.Gzip => "tar",
        // Most volumes are known by their names only; the first piece of a cut film looks like the film.
        _ => FormatOf(file.SubjectName) ?? FormatOf(file.YencName),
    };

    private static ImportFailure? Refuse(IReadOnlyList<(string? Format, long Size)> files)
    {
        var packed = files.Where(file => file.Format is not null && !(file.Format == "Split" && files.Count == 1)).ToList();
        if (packed.Count == 0)
            return null;

        // Half of the payload, or volumes as long as anything else: under random names only the first one is recognised.
        var others = files.Where(file => file.Format is null).Select(file => file.Size).DefaultIfEmpty().Max();
        return packed.Sum(file => file.Size) * 2 >= files.Sum(file => file.Size) || packed.Max(file => file.Size) >= others
            ? ImportFailure.UnsupportedArchive(packed.MaxBy(file => file.Size).Format!, Detail)
            : null;
    }

    private static bool IsNumber(string extension) => extension.Length == 3 && extension.All(char.IsAsciiDigit);
}
