using System.Buffers.Binary;
using System.Collections;
using System.Security.Cryptography;
using System.Text;

namespace Sluice.Usenet.Nzb;

/// <summary>Collects the segments of one file element and sorts them by number.</summary>
/// <remarks>A built file is valid until the next file begins. Not thread-safe.</remarks>
internal sealed class NzbFileBuilder(NzbLimits limits, Func<Stream>? scratch) : IDisposable
{
    private const int MaxGroups = 64;
    private const int MaxGroupLength = 512;

    private readonly SegmentSpool _listed = new(scratch);
    private readonly SegmentSpool _sorted = new(scratch);
    private readonly List<string> _groups = [];
    private readonly byte[] _packed = new byte[PackedIds.MaxLength];
    private string _subject = "";
    private DateTimeOffset? _date;

    /// <summary>Begins a new file and discards the previous one.</summary>
    public void Start(string subject, DateTimeOffset? date)
    {
        _subject = subject;
        _date = date;
        _listed.Clear();
        _groups.Clear();
    }

    public void AddGroup(string group)
    {
        group = group.Trim();
        if (group.Length is > 0 and <= MaxGroupLength && _groups.Count < MaxGroups)
            _groups.Add(group);
    }

    /// <summary>Adds a segment; a number below 1 or beyond the limit counts as missing.</summary>
    public void AddSegment(ReadOnlySpan<byte> id, long number, int bytes)
    {
        _packed[0] = 1;
        _packed[1] = (byte)id.Length;
        id.CopyTo(_packed.AsSpan(2));
        _listed.Add(number >= 1 && number <= limits.MaxSegments ? (int)number : 0, bytes, _packed.AsSpan(0, 2 + id.Length));
    }

    /// <summary>Returns the file, or null if it has no usable segment.</summary>
    /// <exception cref="NzbFormatException">The numbers imply more holes than allowed.</exception>
    public NzbFile? Build()
    {
        if (_listed.Count == 0)
            return null;

        _listed.Complete();
        var spool = _listed;
        if (!_listed.IsSorted)
            SegmentSorter.Sort(_listed, spool = _sorted);

        var part = PartOf(spool);
        var holes = part > 0 ? 0 : spool.LastNumber - spool.Count;
        if (holes > limits.MaxHoles)
            throw new NzbFormatException(NzbFault.TooLarge, $"more than {limits.MaxHoles} segments of one file are not listed");
        return new NzbFile
        {
            Subject = _subject,
            Date = _date,
            Groups = [.. _groups],
            Segments = new NzbSegments(spool, Math.Max(1, part)),
            Holes = holes,
            Part = part,
            Fingerprint = Fingerprint(spool),
        };
    }

    public void Dispose()
    {
        _listed.Dispose();
        _sorted.Dispose();
    }

    private int PartOf(SegmentSpool spool) =>
        spool.Count == 1 && NzbSubject.CounterOf(_subject) is var (number, total) && number == spool.LastNumber && total > 1 && number <= total ? number : 0;

    private UInt128 Fingerprint(SegmentSpool spool)
    {
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        hash.AppendData(Encoding.UTF8.GetBytes(_subject));
        Span<byte> number = stackalloc byte[sizeof(int)];
        for (var place = 0L; place < spool.End;)
        {
            var segment = spool.Read(place);
            BinaryPrimitives.WriteInt32LittleEndian(number, segment.Number);
            hash.AppendData(number);
            hash.AppendData(segment.PackedIds);
            place = segment.Next;
        }

        return BinaryPrimitives.ReadUInt128LittleEndian(hash.GetHashAndReset());
    }
}

/// <summary>The segments of a file from number <c>first</c> on, read from a completed spool. Valid until the reader continues; not thread-safe.</summary>
internal sealed class NzbSegments(SegmentSpool spool, int first) : IReadOnlyCollection<NzbSegment>
{
    public int Count { get; } = spool.LastNumber - first + 1;

    public IEnumerator<NzbSegment> GetEnumerator()
    {
        var number = first - 1;
        for (var place = 0L; place < spool.End;)
        {
            var (next, segment) = Read(ref place);
            while (++number < next)
                yield return new NzbSegment(SegmentIds.None, 0);
            yield return segment;
        }
    }

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

    private (int Number, NzbSegment Segment) Read(ref long place)
    {
        var segment = spool.Read(place);
        place = segment.Next;
        return (segment.Number, new NzbSegment(PackedIds.Read(segment.PackedIds)!.Value, segment.Bytes));
    }
}
