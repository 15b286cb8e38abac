using System.Globalization;

namespace Sluice.Server.WebDav;

/// <summary>What a <c>Range</c> header asks of a file.</summary>
internal enum RangeKind
{
    /// <summary>The whole file with 200: no header, or one that is ignored.</summary>
    Whole,

    /// <summary>One part of the file with 206.</summary>
    Part,

    /// <summary>Nothing of the file: 416.</summary>
    Unsatisfiable,
}

/// <summary>
/// The part of a file that a response carries, by the Range table of section 7 of the WebDAV contract (RFC 9110, section 14).
/// </summary>
/// <param name="Kind">What is asked for.</param>
/// <param name="Offset">First byte, 0-based. 0 unless <paramref name="Kind"/> is <see cref="RangeKind.Part"/>.</param>
/// <param name="Length">Number of bytes of the body; 0 where it is unsatisfiable.</param>
/// <param name="Size">Length of the whole file.</param>
internal readonly record struct ByteRange(RangeKind Kind, long Offset, long Length, long Size)
{
    /// <summary>The value of <c>Content-Range</c>; null for the whole file.</summary>
    public string? ContentRange => Kind switch
    {
        RangeKind.Part => string.Create(CultureInfo.InvariantCulture, $"bytes {Offset}-{Offset + Length - 1}/{Size}"),
        RangeKind.Unsatisfiable => string.Create(CultureInfo.InvariantCulture, $"bytes */{Size}"),
        _ => null,
    };

    /// <summary>All of a file of <paramref name="size"/> bytes.</summary>
    public static ByteRange Whole(long size) => new(RangeKind.Whole, 0, size, size);

    /// <summary>
    /// Reads the header: <c>Range = range-unit "=" 1#( int-range / suffix-range )</c>. Whatever is malformed, overflows or has
    /// another unit is ignored, and so are several ranges of which at least one could be served.
    /// </summary>
    /// <param name="header">The header, or null.</param>
    /// <param name="size">Length of the file in bytes.</param>
    public static ByteRange Parse(string? header, long size)
    {
        ByteRange whole = Whole(size);
        if (header is null || size == 0)
            return whole;

        ReadOnlySpan<char> text = header.AsSpan().Trim();
        int equals = text.IndexOf('=');
        if (equals < 0 || !text[..equals].Equals("bytes", StringComparison.OrdinalIgnoreCase))
            return whole;

        ReadOnlySpan<char> set = text[(equals + 1)..];
        var only = default(ByteRange);
        int ranges = 0;
        bool satisfiable = false;
        foreach (Range part in set.Split(','))
        {
            ReadOnlySpan<char> spec = set[part].Trim(" \t");
            if (spec.IsEmpty)
                continue; // RFC 9110, section 5.6.1.2: empty list elements are to be accepted.
            if (!TryParseOne(spec, size, out only))
                return whole;
            ranges++;
            satisfiable |= only.Kind == RangeKind.Part;
        }

        if (ranges == 0)
            return whole;
        if (!satisfiable)
            return new ByteRange(RangeKind.Unsatisfiable, 0, 0, size);
        return ranges == 1 ? only : whole;
    }

    private static bool TryParseOne(ReadOnlySpan<char> spec, long size, out ByteRange range)
    {
        range = new ByteRange(RangeKind.Unsatisfiable, 0, 0, size);
        int dash = spec.IndexOf('-');
        if (dash < 0)
            return false;

        ReadOnlySpan<char> first = spec[..dash];
        ReadOnlySpan<char> last = spec[(dash + 1)..];
        if (first.IsEmpty)
        {
            if (!TryParseNumber(last, out long suffix))
                return false;
            long taken = Math.Min(suffix, size);
            if (taken > 0)
                range = new ByteRange(RangeKind.Part, size - taken, taken, size);
            return true;
        }

        if (!TryParseNumber(first, out long begin))
            return false;
        long end = long.MaxValue;
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
