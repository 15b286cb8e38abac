using System.Globalization;

namespace Sluice.Server.WebDav.Content;

/// <summary>
/// Parses <c>Range</c> (RFC 9110, section 14.1.1) according to the Range table in section 7 of the WebDAV contract: <c>Range = range-unit "=" 1#( int-range /
/// suffix-range )</c>. Pure.
/// </summary>
internal static class RangeHeader
{
    /// <summary>Maximum parts of a response. A request for more parts gets the whole file, because so many seeks would cost more (S24).</summary>
    private const int MaxParts = 5;

    /// <summary>Returns the requested ranges. Ignores a header that is malformed, overflows, has another unit, or has too many parts.</summary>
    /// <param name="size">Length of the file in bytes.</param>
    /// <returns>One range of any kind, or several parts in header order. Parts neither overlap nor touch, so no byte is sent twice.</returns>
    public static IReadOnlyList<ByteRange> Parse(string? header, long size)
    {
        ByteRange[] whole = [ByteRange.Whole(size)];
        if (header is null || size == 0)
            return whole;

        var text = header.AsSpan().Trim();
        var equals = text.IndexOf('=');
        if (equals < 0 || !text[..equals].Equals("bytes", StringComparison.OrdinalIgnoreCase))
            return whole;

        var set = text[(equals + 1)..];
        var parts = new List<ByteRange>();
        var any = false;
        foreach (var element in set.Split(','))
        {
            var spec = set[element].Trim(" \t");
            if (spec.IsEmpty)
                continue; // RFC 9110, section 5.6.1.2: empty list elements must be accepted.
            if (!TryParseOne(spec, size, out var range))
                return whole;
            any = true;
            if (range.Kind == RangeKind.Part)
                parts.Add(range);
        }

        if (!any)
            return whole;
        if (parts.Count == 0)
            return [ByteRange.None(size)];
        var merged = Merge(parts);
        return merged.Count <= MaxParts ? merged : whole;
    }

    /// <summary>Merges ranges that overlap or touch. A merged range keeps the position of its first range (RFC 9110, section 15.3.7.2).</summary>
    private static List<ByteRange> Merge(List<ByteRange> parts)
    {
        if (parts.Count == 1)
            return parts;

        var runs = new List<(int Place, ByteRange Range)>();
        foreach ((var place, var part) in parts.Index().OrderBy(entry => entry.Item.Offset))
        {
            if (runs.Count == 0 || part.Offset > runs[^1].Range.End)
            {
                runs.Add((place, part));
                continue;
            }

            (var first, var run) = runs[^1];
            runs[^1] = (Math.Min(first, place), run with { Length = Math.Max(run.End, part.End) - run.Offset });
        }

        return [.. runs.OrderBy(run => run.Place).Select(run => run.Range)];
    }

    private static bool TryParseOne(ReadOnlySpan<char> spec, long size, out ByteRange range)
    {
        range = ByteRange.None(size);
        var dash = spec.IndexOf('-');
        if (dash < 0)
            return false;

        var first = spec[..dash];
        var last = spec[(dash + 1)..];
        if (first.IsEmpty)
        {
            if (!TryParseNumber(last, out var suffix))
                return false;
            var taken = Math.Min(suffix, size);
            if (taken > 0)
                range = new ByteRange(RangeKind.Part, size - taken, taken, size);
            return true;
        }

        if (!TryParseNumber(first, out var begin))
            return false;
        var end = long.MaxValue;
        if (!last.IsEmpty && !TryParseNumber(last, out end))
            return false;
        if (begin > end)
            return false;
        if (begin < size)
            range = new ByteRange(RangeKind.Part, begin, Math.Min(end, size - 1) - begin + 1, size);
        return true;
    }

    private static bool TryParseNumber(ReadOnlySpan<char> digits, out long value) =>
        long.TryParse(digits, NumberStyles.None, CultureInfo.InvariantCulture, out value);
}
