using System.Globalization;

namespace Sluice.Usenet.Archives;

/// <summary>The pieces of a file in their order, as their names tell it.</summary>
/// <param name="Name">The name of the whole: that of a piece without its number.</param>
/// <param name="Order">Indexes of the pieces among the names that were asked about, first piece first.</param>
/// <param name="Missing">Pieces that lack between the first and the last; where there are any, the pieces do not join.</param>
public sealed record SplitOrder(string Name, IReadOnlyList<int> Order, int Missing);

/// <summary>Stretches that follow each other and are one text together: the pieces of a file that was cut, or the extents of an entry.</summary>
/// <remarks>Immutable. Every stretch has its own length: nothing is taken to be equal.</remarks>
public sealed class SplitSet
{
    /// <summary>The highest number of a piece that is believed; a post has fewer files than that.</summary>
    public const int MaxNumber = 100_000;

    private readonly IReadOnlyList<ArchiveExtent> _pieces;

    // Where each piece begins in the text; an empty piece begins where the next one does.
    private readonly long[] _starts;

    /// <summary>Joins stretches.</summary>
    /// <param name="pieces">They, in order; none has a negative length.</param>
    /// <exception cref="ArchiveException">They are longer than a file can be.</exception>
    public SplitSet(IReadOnlyList<ArchiveExtent> pieces)
    {
        ArgumentNullException.ThrowIfNull(pieces);
        _pieces = pieces;
        _starts = new long[pieces.Count];
        for (var i = 0; i < pieces.Count; i++)
        {
            ArgumentOutOfRangeException.ThrowIfNegative(pieces[i].Length, nameof(pieces));
            _starts[i] = Length;
            if (pieces[i].Length > long.MaxValue - Length)
                throw new ArchiveException(ArchiveFault.Broken, "it is longer than a file can be");
            Length += pieces[i].Length;
        }
    }

    /// <summary>Length of the text in bytes.</summary>
    public long Length { get; }

    /// <summary>Joins whole volumes.</summary>
    /// <param name="lengths">The real length of each, in bytes.</param>
    public static SplitSet OfVolumes(IEnumerable<long> lengths) => new([.. lengths.Select((length, i) => new ArchiveExtent(i, 0, length))]);

    /// <summary>Where a stretch of the text lies.</summary>
    /// <param name="offset">Its first byte in the text, 0-based.</param>
    /// <param name="length">Its bytes.</param>
    /// <returns>Stretches of the pieces, in order, none of them empty.</returns>
    /// <exception cref="ArgumentOutOfRangeException">It lies outside of the text.</exception>
    public IReadOnlyList<ArchiveExtent> Slice(long offset, long length)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(length, Length - offset);

        var slice = new List<ArchiveExtent>();
        for (var i = IndexOf(offset); length > 0; i++)
        {
            var piece = _pieces[i];
            var skip = offset - _starts[i];
            var taken = Math.Min(length, piece.Length - skip);
            if (taken > 0)
                slice.Add(new ArchiveExtent(piece.Volume, piece.Offset + skip, taken));
            (offset, length) = (offset + taken, length - taken);
        }

        return slice;
    }

    /// <summary>Orders names such as <c>film.mkv.001</c>, <c>film.mkv.002</c> by the numbers at their ends.</summary>
    /// <returns>Null where the names are not those of pieces of one file, each of them once.</returns>
    public static SplitOrder? Order(IReadOnlyList<string> names)
    {
        ArgumentNullException.ThrowIfNull(names);
        var pieces = new SortedDictionary<int, int>();
        string? whole = null;
        for (var i = 0; i < names.Count; i++)
        {
            if (Number(names[i]) is not (var name, var number) || !pieces.TryAdd(number, i))
                return null;
            whole ??= name;
            if (!name.Equals(whole, StringComparison.OrdinalIgnoreCase))
                return null;
        }

        // Pieces are counted from 001; a few programs begin with 000.
        return whole is null ? null : new SplitOrder(whole, [.. pieces.Values], pieces.Keys.Last() + 1 - pieces.Count - (pieces.ContainsKey(0) ? 0 : 1));
    }

    // The piece that holds a byte of the text: the last one that begins at or before it, so that empty ones are passed over.
    private int IndexOf(long offset)
    {
        var (low, high) = (0, _starts.Length - 1);
        while (low < high)
        {
            var middle = (low + high + 1) >>> 1;
            (low, high) = _starts[middle] <= offset ? (middle, high) : (low, middle - 1);
        }

        return low;
    }

    // At least two digits behind a dot: "film.7z.001", never "film.1" or "film.7z".
    private static (string Name, int Number)? Number(string name)
    {
        var dot = name.LastIndexOf('.');
        var digits = name.AsSpan(dot + 1);
        return dot > 0 && digits.Length >= 2
            && int.TryParse(digits, NumberStyles.None, CultureInfo.InvariantCulture, out var number) && number <= MaxNumber
                ? (name[..dot], number)
                : null;
    }
}
