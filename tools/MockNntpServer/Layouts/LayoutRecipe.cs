using System.Buffers.Text;
using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Text;
using Sluice.Tools.MockNntpServer.Articles;

namespace Sluice.Tools.MockNntpServer.Layouts;

/// <summary>
/// Describes an archive release by command-line flags, short enough for each message-id, so that any mock can serve the NZB (contract TST-53).
/// </summary>
public sealed record LayoutRecipe
{
    /// <summary>Default password of encrypted layouts.</summary>
    public const string UsualPassword = "open-sesame";

    private const int UsualVolumes = 20;
    private const int InnerVolumes = 5;
    private const int Most = 100_000;

    private static readonly Dictionary<string, LayoutFormat> Formats = new(StringComparer.Ordinal)
    {
        ["split"] = LayoutFormat.Split,
        ["rar4"] = LayoutFormat.Rar4,
        ["rar4-enc"] = LayoutFormat.Rar4,
        ["rar5"] = LayoutFormat.Rar5,
        ["rar5-enc"] = LayoutFormat.Rar5,
        ["rar5-hdrenc"] = LayoutFormat.Rar5,
        ["7z"] = LayoutFormat.SevenZip,
        ["7z-enc"] = LayoutFormat.SevenZip,
        ["zip"] = LayoutFormat.Zip,
        ["tar"] = LayoutFormat.Tar,
        ["nested"] = LayoutFormat.Rar5,
    };

    public static IReadOnlyCollection<string> Names => Formats.Keys;

    public required string Layout { get; init; }

    public required long Size { get; init; }

    /// <summary>Volumes per set; null for 20, or one for zip and tar.</summary>
    public int? Volumes { get; init; }

    /// <summary>Number of films, each in its own set.</summary>
    public int Files { get; init; } = 1;

    /// <summary>Whether all files are posted under random names.</summary>
    public bool Obfuscates { get; init; }

    /// <summary>Recovery blocks of a PAR2 set over all posted files; null for no PAR2 set.</summary>
    public int? Par2 { get; init; }

    /// <summary>Password of encrypted layouts; null for <see cref="UsualPassword"/>.</summary>
    public string? Password { get; init; }

    private bool IsEncrypted => Layout.EndsWith("enc", StringComparison.Ordinal);

    /// <summary>Parses the output of <see cref="ToString"/>.</summary>
    public static bool TryParse(string text, [NotNullWhen(true)] out LayoutRecipe? recipe)
    {
        recipe = null;
        if (text.Split('+') is not [var layout, var password, var size, var volumes, var files, var obfuscates, var par2]
            || !Formats.ContainsKey(layout) || !Base64Url.IsValid(password)
            || !long.TryParse(size, NumberStyles.None, CultureInfo.InvariantCulture, out var bytes)
            || !TryParseCount(volumes, out var ofSet) || !TryParseCount(files, out var films) || films is null or 0 || !TryParseCount(par2, out var blocks))
            return false;
        recipe = new LayoutRecipe
        {
            Layout = layout,
            Size = bytes,
            Volumes = ofSet,
            Files = films.Value,
            Obfuscates = obfuscates == "o",
            Par2 = blocks,
            Password = password.Length == 0 ? null : Encoding.UTF8.GetString(Base64Url.DecodeFromChars(password)),
        };
        return true;
    }

    /// <summary>Returns one word without dots.</summary>
    public override string ToString() => string.Create(
        CultureInfo.InvariantCulture,
        $"{Layout}+{Base64Url.EncodeToString(Encoding.UTF8.GetBytes(Password ?? ""))}+{Size}+{Volumes}+{Files}+{(Obfuscates ? "o" : "")}+{Par2}");

    /// <exception cref="ArgumentException">The content is too small for the number of volumes.</exception>
    public MockRelease Make(ulong seed, int articleSize = MockFile.DefaultArticleSize)
    {
        var builder = new ReleaseBuilder($"{Layout}-{seed}", seed, articleSize).Obfuscate(Obfuscates);
        if (IsEncrypted)
            builder.Password(Password ?? UsualPassword);
        var digits = Math.Max(2, Files.ToString(CultureInfo.InvariantCulture).Length);
        for (var i = 0; i < Files; i++)
        {
            var stem = Files == 1 ? "film" : $"film-{(i + 1).ToString(CultureInfo.InvariantCulture).PadLeft(digits, '0')}";
            AddSet(builder, seed, stem, i == Files - 1 ? Size - (Size / Files * (Files - 1)) : Size / Files);
        }

        if (Par2 is { } blocks)
            builder.AddPar2(blocks);
        return builder.Build(ToString());
    }

    private void AddSet(ReleaseBuilder builder, ulong seed, string stem, long size)
    {
        var layout = new ArchiveLayout
        {
            Format = Formats[Layout],
            Entries = [new LayoutEntry($"{stem}.mkv", size)],
            Volumes = Volumes ?? (Layout is "zip" or "tar" ? 1 : UsualVolumes),
            Password = IsEncrypted ? Password ?? UsualPassword : null,
            EncryptsHeaders = Layout == "rar5-hdrenc",
        };
        if (Layout != "nested")
        {
            builder.AddArchive(layout);
            return;
        }

        var inner = (layout with { Volumes = Math.Min(layout.Volumes, InnerVolumes) }).Make(seed, builder.NextStream());
        builder.AddArchive((layout with { Entries = inner.AsEntries(), Stem = stem }).Make(seed, builder.NextStream()), inner.Entries);
    }

    private static bool TryParseCount(string text, out int? number)
    {
        number = null;
        if (text.Length == 0)
            return true;
        if (!int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var value) || value > Most)
            return false;
        number = value;
        return true;
    }
}
