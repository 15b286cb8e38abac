namespace Sluice.Server.Library;

/// <summary>
/// Positions of a posted file's segments in the release's message-id list. Usually they form one run. They may be scattered if a post lists every segment as
/// its own file (IMP-17). Immutable and thread-safe.
/// </summary>
internal sealed class SegmentPlaces : IEquatable<SegmentPlaces>
{
    /// <summary>The position of a segment that the NZB does not list.</summary>
    public const int Nowhere = -1;

    private const byte Version = 1;

    // Minimum bytes of a serialized run: two numbers of at least one byte each.
    private const int LeastRun = 2;

    private readonly Run[] _runs;

    private SegmentPlaces(Run[] runs)
    {
        _runs = runs;
        var count = 0L;
        foreach (ref var run in _runs.AsSpan())
        {
            run = run with { Index = (int)count };
            count += run.Count;
        }

        Count = checked((int)count);
    }

    public int Count { get; }

    /// <summary>Highest position, or <see cref="Nowhere"/>.</summary>
    public int Last => _runs.Max(run => run.Place == Nowhere ? Nowhere : run.Place + run.Count - 1);

    /// <summary>The position of a segment, or <see cref="Nowhere"/>.</summary>
    public int this[int index]
    {
        get
        {
            ArgumentOutOfRangeException.ThrowIfNegative(index);
            ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(index, Count);
            int low = 0, high = _runs.Length - 1;
            while (low < high)
            {
                var middle = (low + high + 1) >> 1;
                if (_runs[middle].Index <= index)
                    low = middle;
                else
                    high = middle - 1;
            }

            return _runs[low].Place == Nowhere ? Nowhere : _runs[low].Place + index - _runs[low].Index;
        }
    }

    public static SegmentPlaces Range(int place, int count) => new([new Run(0, place, count)]);

    /// <summary>Creates positions from runs in order. Merges adjacent runs.</summary>
    public static SegmentPlaces Join(IEnumerable<(int Place, int Count)> runs)
    {
        var joined = new List<Run>();
        foreach (var (place, count) in runs)
        {
            if (joined.Count > 0 && joined[^1] is var last
                && (place == Nowhere ? last.Place == Nowhere : last.Place != Nowhere && last.Place + last.Count == place))
                joined[^1] = last with { Count = last.Count + count };
            else
                joined.Add(new Run(0, place, count));
        }

        return new SegmentPlaces([.. joined]);
    }

    /// <summary>Serializes the positions. Equal positions yield equal bytes.</summary>
    public byte[] Pack()
    {
        var packed = new MemoryStream(1 + (8 * _runs.Length));
        using var writer = new BinaryWriter(packed);
        writer.Write(Version);
        foreach (var run in _runs)
        {
            writer.Write7BitEncodedInt(run.Place + 1);
            writer.Write7BitEncodedInt(run.Count);
        }

        writer.Flush();
        return packed.ToArray();
    }

    /// <summary>Parses the output of <see cref="Pack"/>.</summary>
    /// <exception cref="InvalidDataException">The bytes are damaged or of an unknown version.</exception>
    public static SegmentPlaces Unpack(byte[] packed)
    {
        try
        {
            using var reader = new BinaryReader(new MemoryStream(packed, writable: false));
            if (reader.ReadByte() != Version)
                throw new InvalidDataException("The places are of an unknown version.");

            var runs = new List<Run>(packed.Length / LeastRun);
            while (reader.BaseStream.Position < packed.Length)
            {
                var (place, count) = (reader.Read7BitEncodedInt() - 1, reader.Read7BitEncodedInt());
                if (place < Nowhere || count < 1)
                    throw new InvalidDataException("The places hold a negative number.");
                runs.Add(new Run(0, place, count));
            }

            return new SegmentPlaces([.. runs]);
        }
        catch (Exception e) when (e is EndOfStreamException or FormatException or OverflowException)
        {
            throw new InvalidDataException("The places are damaged.", e);
        }
    }

    public bool Equals(SegmentPlaces? other) => other is not null && _runs.AsSpan().SequenceEqual(other._runs);

    public override bool Equals(object? obj) => Equals(obj as SegmentPlaces);

    public override int GetHashCode() => HashCode.Combine(Count, _runs.Length, _runs.Length == 0 ? 0 : _runs[0].Place);

    private readonly record struct Run(int Index, int Place, int Count);
}
