using System.Buffers.Text;
using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Text;
using Sluice.Tools.MockNntpServer.Layouts;

namespace Sluice.Tools.MockNntpServer.Articles;

/// <summary>Where the bytes of an article come from.</summary>
public enum ContentSource
{
    /// <summary><see cref="SyntheticContent"/>, from the seed alone.</summary>
    Plain,

    /// <summary>A real file that the mock was started with, or a file of a release that was posted there.</summary>
    Media,

    /// <summary>A file of a release that is laid out by what the id says.</summary>
    Layout,
}

/// <summary>
/// A message-id of the mock, which says everything that is needed to make its article, so that any mock serves any NZB:
/// <c>source.seed.file.files.part.parts.begin.length.size.crc.name@sluice.mock</c>, seed and CRC in hex, the name as
/// base64url of UTF-8. <c>-uu</c> behind the source is uuencode. In place of a source there may be a <see cref="LayoutRecipe"/>.
/// </summary>
public sealed record MockMessageId
{
    /// <summary>Longest id that servers accept, brackets excluded.</summary>
    public const int MaxLength = 250;

    private const string Domain = "@sluice.mock";
    private const string Uuencoded = "-uu";

    /// <summary>Where the bytes come from.</summary>
    public ContentSource Source { get; init; }

    /// <summary>The layout of the release where that is the source, else null.</summary>
    public string? Recipe { get; init; }

    /// <summary>Whether the article is uuencoded.</summary>
    public bool IsUuencoded { get; init; }

    /// <summary>Seed of the release.</summary>
    public required ulong Seed { get; init; }

    /// <summary>File within the release, from 0.</summary>
    public required int File { get; init; }

    /// <summary>Files of the release.</summary>
    public required int Files { get; init; }

    /// <summary>Part within the file, from 1.</summary>
    public required int Part { get; init; }

    /// <summary>Parts of the file.</summary>
    public required int Parts { get; init; }

    /// <summary>First byte of the part within the file, from 0.</summary>
    public required long Begin { get; init; }

    /// <summary>Decoded bytes of the part.</summary>
    public required int Length { get; init; }

    /// <summary>Decoded bytes of the whole file.</summary>
    public required long FileSize { get; init; }

    /// <summary>CRC-32 of the whole file, which the last part carries; null elsewhere.</summary>
    public uint? FileCrc { get; init; }

    /// <summary>Name of the file as the poster wrote it.</summary>
    public required string Name { get; init; }

    /// <summary>Reads an id without angle brackets.</summary>
    /// <returns>False when the mock did not make it, or its numbers contradict each other.</returns>
    public static bool TryParse(string? text, [NotNullWhen(true)] out MockMessageId? id)
    {
        id = null;
        if (text is null || text.Length > MaxLength || !text.EndsWith(Domain, StringComparison.Ordinal))
            return false;

        var fields = text[..^Domain.Length].Split('.');
        if (fields.Length != 11
            || !TryParseSource(fields[0], out var source, out var isUuencoded, out var recipe)
            || !ulong.TryParse(fields[1], NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out var seed)
            || !TryParse(fields[2], out int file) || !TryParse(fields[3], out int files)
            || !TryParse(fields[4], out int part) || !TryParse(fields[5], out int parts)
            || !TryParse(fields[6], out long begin) || !TryParse(fields[7], out int length) || !TryParse(fields[8], out long size)
            || !TryParseCrc(fields[9], out var crc) || !TryParseName(fields[10], out var name))
            return false;

        // The ceiling keeps an id made by hand from asking for an article that does not fit in memory.
        if (file >= files || part < 1 || part > parts || begin > size - length || length > MaxPartLength)
            return false;

        id = new MockMessageId
        {
            Source = source,
            Recipe = recipe,
            IsUuencoded = isUuencoded,
            Seed = seed,
            File = file,
            Files = files,
            Part = part,
            Parts = parts,
            Begin = begin,
            Length = length,
            FileSize = size,
            FileCrc = crc,
            Name = name,
        };
        return true;
    }

    /// <summary>Largest part that is served, in decoded bytes.</summary>
    public const int MaxPartLength = 64 << 20;

    /// <summary>The id without angle brackets.</summary>
    public override string ToString() => string.Create(
        CultureInfo.InvariantCulture,
        $"{SourceText}{(IsUuencoded ? Uuencoded : "")}.{Seed:x}.{File}.{Files}.{Part}.{Parts}.{Begin}.{Length}.{FileSize}.{(FileCrc is { } crc ? crc.ToString("x8", CultureInfo.InvariantCulture) : "-")}.{Base64Url.EncodeToString(Encoding.UTF8.GetBytes(Name))}{Domain}");

    private string SourceText => Source switch { ContentSource.Media => "media", ContentSource.Layout => Recipe!, _ => "plain" };

    private static bool TryParseSource(string text, out ContentSource source, out bool isUuencoded, out string? recipe)
    {
        isUuencoded = text.EndsWith(Uuencoded, StringComparison.Ordinal);
        text = isUuencoded ? text[..^Uuencoded.Length] : text;
        recipe = LayoutRecipe.TryParse(text, out _) ? text : null;
        source = recipe is not null ? ContentSource.Layout : text == "media" ? ContentSource.Media : ContentSource.Plain;
        return recipe is not null || text is "media" or "plain";
    }

    private static bool TryParseCrc(string text, out uint? crc)
    {
        crc = null;
        if (text == "-")
            return true;
        if (!uint.TryParse(text, NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out var value))
            return false;
        crc = value;
        return true;
    }

    private static bool TryParseName(string text, [NotNullWhen(true)] out string? name)
    {
        name = Base64Url.IsValid(text) ? Encoding.UTF8.GetString(Base64Url.DecodeFromChars(text)) : null;
        return !string.IsNullOrEmpty(name) && !name.AsSpan().ContainsAny('\r', '\n', '\0');
    }

    private static bool TryParse(string text, out int value) =>
        int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out value);

    private static bool TryParse(string text, out long value) =>
        long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out value);
}
