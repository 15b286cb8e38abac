using System.Buffers.Text;
using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Text;
using Sluice.Tools.MockNntpServer.Layouts;

namespace Sluice.Tools.MockNntpServer.Articles;

public enum ContentSource
{
    /// <summary><see cref="SyntheticContent"/>, computed from the seed.</summary>
    Plain,

    /// <summary>A real file from the mock's options, or a file of a posted release.</summary>
    Media,

    /// <summary>A file of a release whose layout is encoded in the id.</summary>
    Layout,
}

/// <summary>
/// A message-id of the mock. It contains everything needed to create its article, so that any mock can serve any NZB:
/// <c>source.seed.file.files.part.parts.begin.length.size.crc.name@sluice.mock</c>, with seed and CRC in hex and the name as base64url of
/// UTF-8. A <c>-uu</c> after the source means uuencode. The source may also be a <see cref="LayoutRecipe"/>.
/// </summary>
public sealed record MockMessageId
{
    /// <summary>Longest id that servers accept, without brackets.</summary>
    public const int MaxLength = 250;

    private const string Domain = "@sluice.mock";
    private const string Uuencoded = "-uu";

    public ContentSource Source { get; init; }

    /// <summary>The layout of the release if <see cref="Source"/> is a layout, otherwise null.</summary>
    public string? Recipe { get; init; }

    public bool IsUuencoded { get; init; }

    public required ulong Seed { get; init; }

    /// <summary>0-based file within the release.</summary>
    public required int File { get; init; }

    public required int Files { get; init; }

    /// <summary>1-based part within the file.</summary>
    public required int Part { get; init; }

    public required int Parts { get; init; }

    /// <summary>0-based offset of the part in the file.</summary>
    public required long Begin { get; init; }

    public required int Length { get; init; }

    public required long FileSize { get; init; }

    /// <summary>CRC-32 of the whole file. Only the last part has it; null otherwise.</summary>
    public uint? FileCrc { get; init; }

    public required string Name { get; init; }

    /// <summary>Parses an id without angle brackets.</summary>
    /// <returns>False if the mock did not create the id, or if its numbers contradict each other.</returns>
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

        // The limit prevents a hand-written id from requesting an article that does not fit in memory.
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

    /// <summary>Largest served part in decoded bytes.</summary>
    public const int MaxPartLength = 64 << 20;

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
