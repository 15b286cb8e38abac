using System.Runtime.InteropServices;

namespace Sluice.Usenet.Streams.Maps;

/// <summary>
/// Maps each byte of a posted file to its segment. Posters split a file into equal parts and a shorter last one. So the map stores the part size, the length of
/// the last part, and a list of the parts that deviate.
/// </summary>
/// <remarks>Immutable and thread-safe. Lookups cost arithmetic and a binary search over the deviating parts.</remarks>
public sealed class SegmentMap : IEquatable<SegmentMap>
{
    /// <summary>Maximum number of segments in one file; the same limit as for one NZB.</summary>
    public const int MaxCount = 3_000_000;

    /// <summary>Maximum decoded bytes of one segment, because larger articles are rejected.</summary>
    public const int MaxSegmentLength = 16 << 20;

    private const byte PackVersion = 1;

    private readonly int _partSize;
    private readonly int _lastLength;

    // The parts, except the last, whose length is not _partSize: in ascending order, each with its end offset.
    private readonly int[] _oddIndexes;
    private readonly int[] _oddLengths;
    private readonly long[] _oddEnds;

    private SegmentMap(int count, int partSize, int lastLength, int[] oddIndexes, int[] oddLengths)
    {
        Count = count;
        _partSize = partSize;
        _lastLength = lastLength;
        _oddIndexes = oddIndexes;
        _oddLengths = oddLengths;
        _oddEnds = new long[oddIndexes.Length];

        var end = 0L;
        var next = 0;
        for (var i = 0; i < oddIndexes.Length; i++)
        {
            end += (long)(oddIndexes[i] - next) * partSize + oddLengths[i];
            next = oddIndexes[i] + 1;
            _oddEnds[i] = end;
        }

        Length = end + (long)(count - 1 - next) * partSize + lastLength;
    }

    public int Count { get; }

    public long Length { get; }

    /// <exception cref="ArgumentOutOfRangeException">There is no such segment.</exception>
    public Segment this[int index]
    {
        get
        {
            ArgumentOutOfRangeException.ThrowIfNegative(index);
            ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(index, Count);

            var odd = Array.BinarySearch(_oddIndexes, index);
            if (odd >= 0)
                return new Segment(index, _oddEnds[odd] - _oddLengths[odd], _oddLengths[odd]);

            var (end, next) = Behind(~odd - 1);
            return new Segment(index, end + (long)(index - next) * _partSize, index == Count - 1 ? _lastLength : _partSize);
        }
    }

    /// <summary>Creates a map of equal segments and a shorter last one, up to <see cref="MaxCount"/> in total, from decoded sizes in bytes.</summary>
    /// <exception cref="ArgumentOutOfRangeException">A number exceeds its limit, or no last segment fits the sizes.</exception>
    public static SegmentMap Uniform(int count, long partSize, long fileSize)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(count, 1);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(count, MaxCount);
        ArgumentOutOfRangeException.ThrowIfNegative(partSize);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(partSize, count == 1 ? long.MaxValue : MaxSegmentLength);
        ArgumentOutOfRangeException.ThrowIfNegative(fileSize);

        var last = count == 1 ? fileSize : fileSize - (count - 1) * partSize;
        if (last is < 0 or > MaxSegmentLength)
            throw new ArgumentOutOfRangeException(nameof(fileSize), fileSize, "The sizes leave no possible last segment.");

        return new SegmentMap(count, count == 1 ? (int)last : (int)partSize, (int)last, [], []);
    }

    /// <summary>Creates a map from the decoded lengths of 1 to <see cref="MaxCount"/> segments; the most frequent length becomes the part size.</summary>
    /// <exception cref="ArgumentOutOfRangeException">A number exceeds its limit.</exception>
    public static SegmentMap FromLengths(IReadOnlyList<long> lengths)
    {
        ArgumentNullException.ThrowIfNull(lengths);
        ArgumentOutOfRangeException.ThrowIfLessThan(lengths.Count, 1, nameof(lengths));
        ArgumentOutOfRangeException.ThrowIfGreaterThan(lengths.Count, MaxCount, nameof(lengths));

        var last = lengths.Count - 1;
        var frequency = new Dictionary<long, int>();
        for (var i = 0; i <= last; i++)
        {
            ArgumentOutOfRangeException.ThrowIfNegative(lengths[i], nameof(lengths));
            ArgumentOutOfRangeException.ThrowIfGreaterThan(lengths[i], MaxSegmentLength, nameof(lengths));
            if (i < last)
                CollectionsMarshal.GetValueRefOrAddDefault(frequency, lengths[i], out _)++;
        }

        var partSize = (int)(last == 0 ? lengths[0] : frequency.MaxBy(pair => (pair.Value, pair.Key)).Key);
        var indexes = new List<int>();
        var odd = new List<int>();
        for (var i = 0; i < last; i++)
        {
            if (lengths[i] == partSize)
                continue;
            indexes.Add(i);
            odd.Add((int)lengths[i]);
        }

        return new SegmentMap(lengths.Count, partSize, (int)lengths[last], [.. indexes], [.. odd]);
    }

    /// <summary>Returns the segment that holds the byte at an offset.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The offset is negative or not below <see cref="Length"/>.</exception>
    public Segment Locate(long offset)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(offset, Length);

        // Counts the deviating parts that end at or before the offset. Parts of length 0 share an end with their predecessor, so the search finds the
        // last of equal ends.
        int low = 0, high = _oddEnds.Length;
        while (low < high)
        {
            var middle = (low + high) >> 1;
            if (_oddEnds[middle] <= offset)
                low = middle + 1;
            else
                high = middle;
        }

        var (end, next) = Behind(low - 1);
        var limit = low < _oddIndexes.Length ? _oddIndexes[low] : Count - 1;
        var index = _partSize == 0 ? limit : (int)Math.Min(limit, next + (offset - end) / _partSize);
        return this[index];
    }

    /// <summary>Returns the map in a compact form for storage; equal maps produce equal bytes.</summary>
    public byte[] Pack()
    {
        var packed = new MemoryStream(16 + 4 * _oddIndexes.Length);
        using var writer = new BinaryWriter(packed);
        writer.Write(PackVersion);
        writer.Write7BitEncodedInt(Count);
        writer.Write7BitEncodedInt(_partSize);
        writer.Write7BitEncodedInt(_lastLength);
        writer.Write7BitEncodedInt(_oddIndexes.Length);
        var next = 0;
        for (var i = 0; i < _oddIndexes.Length; i++)
        {
            writer.Write7BitEncodedInt(_oddIndexes[i] - next);
            writer.Write7BitEncodedInt(_oddLengths[i]);
            next = _oddIndexes[i] + 1;
        }

        writer.Flush();
        return packed.ToArray();
    }

    /// <summary>Reads a map written by <see cref="Pack"/>.</summary>
    /// <exception cref="InvalidDataException">The bytes are damaged or have another version.</exception>
    public static SegmentMap Unpack(ReadOnlySpan<byte> packed)
    {
        if (packed.IsEmpty || packed[0] != PackVersion)
            throw new InvalidDataException("The segment map is of an unknown version.");

        packed = packed[1..];
        var count = ReadNumber(ref packed, 1, MaxCount);
        var partSize = ReadNumber(ref packed, 0, MaxSegmentLength);
        var lastLength = ReadNumber(ref packed, 0, MaxSegmentLength);

        // A deviating part takes at least two bytes, so a damaged count cannot allocate more than was stored.
        var odd = ReadNumber(ref packed, 0, Math.Min(count - 1, packed.Length / 2));
        var indexes = new int[odd];
        var lengths = new int[odd];
        var next = 0;
        for (var i = 0; i < odd; i++)
        {
            indexes[i] = next + ReadNumber(ref packed, 0, count - 2 - next);
            lengths[i] = ReadNumber(ref packed, 0, MaxSegmentLength);
            next = indexes[i] + 1;
        }

        if (!packed.IsEmpty)
            throw new InvalidDataException("The segment map has bytes behind its end.");
        return new SegmentMap(count, partSize, lastLength, indexes, lengths);
    }

    public bool Equals(SegmentMap? other) =>
        other is not null && Count == other.Count && _partSize == other._partSize && _lastLength == other._lastLength
        && _oddIndexes.AsSpan().SequenceEqual(other._oddIndexes) && _oddLengths.AsSpan().SequenceEqual(other._oddLengths);

    public override bool Equals(object? obj) => Equals(obj as SegmentMap);

    public override int GetHashCode() => HashCode.Combine(Count, _partSize, _lastLength, Length, _oddIndexes.Length);

    // Offset and index at which the regular parts after a deviating part begin; for −1, the start of the file.
    private (long End, int Next) Behind(int odd) => odd < 0 ? (0, 0) : (_oddEnds[odd], _oddIndexes[odd] + 1);

    private static int ReadNumber(ref ReadOnlySpan<byte> packed, int least, int most)
    {
        uint value = 0;
        for (var shift = 0; shift < 35 && !packed.IsEmpty; shift += 7)
        {
            var octet = packed[0];
            packed = packed[1..];
            value |= (uint)(octet & 0x7F) << shift;
            if (octet < 0x80)
            {
                if (value <= int.MaxValue && (int)value >= least && (int)value <= most)
                    return (int)value;
                break;
            }
        }

        throw new InvalidDataException("The segment map is damaged.");
    }
}
