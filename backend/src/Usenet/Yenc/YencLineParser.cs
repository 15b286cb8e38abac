using System.Buffers;
using System.Buffers.Text;
using System.Globalization;
using System.Text;

namespace Sluice.Usenet.Yenc;

/// <summary>
/// Parses the keyword lines of yEnc (draft 1.3): <c>=ybegin [part= total=] line= size= name=</c>, <c>=ypart begin= end=</c>, <c>=yend size= [part=
/// pcrc32=] [crc32=]</c>. Pure functions; lines are passed without their line end.
/// </summary>
internal static class YencLineParser
{
    /// <summary>Largest accepted file size in a header, 1 PiB: far above any post, and too small for sums of offsets to overflow.</summary>
    public const long MaxFileSize = 1L << 50;

    private static readonly SearchValues<byte> HexDigits = SearchValues.Create("0123456789abcdefABCDEF"u8);

    /// <summary>Field separators, including a stray CR at the end of a line.</summary>
    public static ReadOnlySpan<byte> Blanks => " \t\r"u8;

    /// <summary>Whether the line starts with this keyword, followed by a blank or nothing.</summary>
    public static bool IsKeyword(ReadOnlySpan<byte> line, ReadOnlySpan<byte> keyword) =>
        line.Length >= keyword.Length
        && Ascii.EqualsIgnoreCase(line[..keyword.Length], keyword)
        && (line.Length == keyword.Length || Blanks.Contains(line[keyword.Length]));

    /// <summary>Parses <c>=ybegin</c>. The name is a slice of the line, trimmed.</summary>
    /// <returns>False if line, size or name is missing, so that the line counts as text.</returns>
    public static bool TryParseBegin(
        ReadOnlySpan<byte> line, out ArticleHeader header, out ReadOnlySpan<byte> name, out ArticleDefects defects)
    {
        header = default;
        defects = ArticleDefects.None;
        name = default;
        if (!IsKeyword(line, "=ybegin"u8))
            return false;

        ReadOnlySpan<byte> lineLength = default, size = default, part = default, total = default;
        bool hasLine = false, hasSize = false, hasPart = false, hasTotal = false, hasName = false;
        var fields = new YencFields(line["=ybegin"u8.Length..], nameEndsLine: true);
        while (!hasName && fields.MoveNext())
        {
            if (!Take(fields, "line"u8, ref hasLine, ref lineLength)
                && !Take(fields, "size"u8, ref hasSize, ref size)
                && !Take(fields, "part"u8, ref hasPart, ref part)
                && !Take(fields, "total"u8, ref hasTotal, ref total))
            {
                Take(fields, "name"u8, ref hasName, ref name);
            }
        }

        if (!hasLine || !hasSize || !hasName)
            return false;

        header = new ArticleHeader
        {
            FileSize = ParseWithin(size, MaxFileSize),
            LineLength = (int?)ParseWithin(lineLength, int.MaxValue),
            HasPartField = hasPart,
            Part = (int?)ParseWithin(part, int.MaxValue),
            Total = (int?)ParseWithin(total, int.MaxValue),
        };
        if (header.FileSize is null || (hasPart && header.Part is null))
            defects |= ArticleDefects.BadRange;
        if (!hasPart && header.FileSize is not null)
            header = header with { Begin = 0, End = header.FileSize };

        var glued = name.IndexOf("=ypart "u8);
        if (glued >= 0 && TryParsePart(name[glued..], ref header, ref defects))
            name = name[..glued];
        name = name.Trim(Blanks);
        return true;
    }

    /// <summary>Parses <c>=ypart</c> into a header: 1-based and inclusive on the wire, 0-based and half-open in the header.</summary>
    /// <returns>False if begin or end is missing; then nothing changes.</returns>
    public static bool TryParsePart(ReadOnlySpan<byte> line, ref ArticleHeader header, ref ArticleDefects defects)
    {
        ReadOnlySpan<byte> begin = default, end = default;
        bool hasBegin = false, hasEnd = false;
        var fields = new YencFields(line["=ypart"u8.Length..], nameEndsLine: false);
        while (fields.MoveNext())
        {
            if (!Take(fields, "begin"u8, ref hasBegin, ref begin))
                Take(fields, "end"u8, ref hasEnd, ref end);
        }

        if (!hasBegin || !hasEnd)
            return false;

        var first = ParseWithin(begin, MaxFileSize);
        var last = ParseWithin(end, MaxFileSize);
        var length = last - first + 1;
        var isRange = length is > 0 and <= ArticleDecoder.MaxDecodedLength;
        if (!isRange)
            defects |= ArticleDefects.BadRange;
        header = header with
        {
            HasPartLine = true,
            Begin = isRange ? first - 1 : null,
            End = isRange ? last : null,
        };
        return true;
    }

    public static ArticleTrailer ParseEnd(ReadOnlySpan<byte> line)
    {
        ReadOnlySpan<byte> size = default, part = default, partCrc = default, fileCrc = default;
        bool hasSize = false, hasPart = false, hasPartCrc = false, hasFileCrc = false;
        var fields = new YencFields(line["=yend"u8.Length..], nameEndsLine: false);
        while (fields.MoveNext())
        {
            if (!Take(fields, "size"u8, ref hasSize, ref size)
                && !Take(fields, "part"u8, ref hasPart, ref part)
                && !Take(fields, "pcrc32"u8, ref hasPartCrc, ref partCrc))
            {
                Take(fields, "crc32"u8, ref hasFileCrc, ref fileCrc);
            }
        }

        var (partSum, fileSum) = (ParseCrc(partCrc), ParseCrc(fileCrc));
        return new ArticleTrailer
        {
            Size = Utf8Parser.TryParse(size, out long value, out var used) && used == size.Length && value >= 0 ? value : null,
            Part = (int?)ParseWithin(part, int.MaxValue),
            PartCrc = partSum,
            IsPartCrcUnreadable = hasPartCrc && partSum is null,
            FileCrc = fileSum,
            IsFileCrcUnreadable = hasFileCrc && fileSum is null,
        };
    }

    /// <summary>Stores a field's value if its key matches; the first occurrence wins.</summary>
    private static bool Take(YencFields fields, ReadOnlySpan<byte> key, ref bool has, ref ReadOnlySpan<byte> value)
    {
        if (!fields.Is(key))
            return false;
        if (!has)
            value = fields.Value;
        has = true;
        return true;
    }

    /// <summary>Parses a decimal number from 1 to a limit; null for any other text.</summary>
    private static long? ParseWithin(ReadOnlySpan<byte> digits, long ceiling) =>
        Utf8Parser.TryParse(digits, out long value, out var used) && used == digits.Length && value > 0 && value <= ceiling
            ? value
            : null;

    /// <summary>Parses any number of hex digits. Only the last eight count; missing ones are zeros.</summary>
    private static uint? ParseCrc(ReadOnlySpan<byte> digits)
    {
        var low = digits.Length > 8 ? digits[^8..] : digits;
        if (digits.IsEmpty || digits.ContainsAnyExcept(HexDigits))
            return null;
        return uint.Parse(low, NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture);
    }
}

/// <summary>Enumerates the <c>key=value</c> fields of a keyword line. Spaces and tabs separate them; tokens without <c>=</c> are skipped.</summary>
internal ref struct YencFields
{
    private readonly bool _nameEndsLine;
    private ReadOnlySpan<byte> _rest;

    /// <summary>Starts after the keyword. If <paramref name="nameEndsLine"/>, <c>name=</c> takes the rest of the line, including quotes and <c>=</c>.</summary>
    public YencFields(ReadOnlySpan<byte> fields, bool nameEndsLine)
    {
        _rest = fields;
        _nameEndsLine = nameEndsLine;
    }

    public ReadOnlySpan<byte> Key { get; private set; }

    public ReadOnlySpan<byte> Value { get; private set; }

    public bool MoveNext()
    {
        while (true)
        {
            _rest = _rest.TrimStart(YencLineParser.Blanks);
            if (_rest.IsEmpty)
                return false;

            var length = _rest.IndexOfAny(YencLineParser.Blanks);
            var token = length < 0 ? _rest : _rest[..length];
            var equals = token.IndexOf((byte)'=');
            if (equals < 0)
            {
                _rest = _rest[token.Length..];
                continue;
            }

            Key = token[..equals];
            if (_nameEndsLine && Is("name"u8))
                token = _rest;
            Value = token[(equals + 1)..];
            _rest = _rest[token.Length..];
            return true;
        }
    }

    public readonly bool Is(ReadOnlySpan<byte> key) => System.Text.Ascii.EqualsIgnoreCase(Key, key);
}
