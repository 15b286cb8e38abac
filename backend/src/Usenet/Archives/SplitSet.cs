using System.Globalization;

namespace Sluice.Usenet.Archives;

/// <summary>The order of a file's pieces, from their names.</summary>
/// <param name="Name">The name of the whole file: the name of a piece without its number.</param>
/// <param name="Order">Indexes of the pieces among the given names, first piece first.</param>
/// <param name="Missing">Number of missing pieces between first and last; if not 0, the pieces cannot be joined.</param>
public sealed record SplitOrder(string Name, IReadOnlyList<int> Order, int Missing);

/// <summary>Consecutive byte ranges that form one file: the pieces of a split file, or the extents of an archive entry.</summary>
/// <remarks>Immutable. Ranges may differ in length.</remarks>
public sealed class SplitSet
{
    /// <summary>Maximum piece number; a post has fewer files.</summary>
    public const int MaxNumber = 100_000;

    private readonly IReadOnlyList<ArchiveExtent> _pieces;

    // Offset of each piece in the file; an empty piece shares its offset with the next one.
    private readonly long[] _starts;

    /// <summary>Joins ranges in order; none may have a negative length.</summary>
    /// <exception cref="ArchiveException">The total exceeds the longest possible file.</exception>
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

    /// <summary>Total length in bytes.</summary>
    public long Length { get; }

    /// <summary>Joins whole volumes of the given lengths in bytes.</summary>
    public static SplitSet OfVolumes(IEnumerable<long> lengths) => new([.. lengths.Select((length, i) => new ArchiveExtent(i, 0, length))]);

    /// <summary>Translates a range of the joined file to non-empty ranges of the pieces, in order. The offset is 0-based.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The range exceeds the joined file.</exception>
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
    /// <returns>Null if the names are not distinct pieces of one file.</returns>
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

        // Pieces count from 001, but a few programs begin with 000, so a missing 000 does not count as a missing piece.
        return whole is null ? null : new SplitOrder(whole, [.. pieces.Values], pieces.Keys.Last() + 1 - pieces.Count - (pieces.ContainsKey(0) ? 0 : 1));
    }

    // Finds the last piece that begins at or before the offset, so that empty pieces are skipped.
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

    // At least two digits after a dot: "film.7z.001", never "film.1" or "film.7z".
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
