using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;

namespace Sluice.Usenet.Nzb;

/// <summary>Collects the segments of one file element in document order and puts them in the order of their numbers.</summary>
internal sealed class NzbFileBuilder(NzbLimits limits)
{
    private const int MaxGroups = 64;
    private const int MaxGroupLength = 512;
    private const int MaxFallbacks = 3;

    private readonly List<Entry> _entries = [];
    private readonly List<string> _groups = [];
    private string _subject = "";
    private DateTimeOffset? _date;

    /// <summary>Begins a new file and forgets the one before.</summary>
    public void Start(string subject, DateTimeOffset? date)
    {
        _subject = subject;
        _date = date;
        _entries.Clear();
        _groups.Clear();
    }

    public void AddGroup(string group)
    {
        group = group.Trim();
        if (group.Length is > 0 and <= MaxGroupLength && _groups.Count < MaxGroups)
            _groups.Add(group);
    }

    /// <summary>Adds a segment; a number below 1 or beyond every limit counts as absent.</summary>
    public void AddSegment(MessageId id, long number, int bytes) =>
        _entries.Add(new Entry(number >= 1 && number <= limits.MaxSegments ? (int)number : 0, id, bytes));

    /// <summary>The file, or null when it has no usable segment.</summary>
    /// <exception cref="NzbFormatException">The numbers imply more holes than allowed.</exception>
    public NzbFile? Build()
    {
        if (_entries.Count == 0)
            return null;

        PlaceUnnumbered();
        var highest = 0;
        foreach (var entry in _entries)
            highest = Math.Max(highest, entry.Number);
        if (highest - _entries.Count > limits.MaxHoles)
            throw new NzbFormatException(NzbFault.TooLarge, $"more than {limits.MaxHoles} segments of one file are not listed");

        var segments = new NzbSegment[highest];
        Array.Fill(segments, new NzbSegment(SegmentIds.None, 0));
        var holes = highest;
        foreach (var entry in _entries)
        {
            ref var segment = ref segments[entry.Number - 1];
            if (segment.IsHole)
            {
                segment = new NzbSegment(new SegmentIds(entry.Id, []), entry.Bytes);
                holes--;
            }
            else if (segment.Ids.Fallbacks.Count < MaxFallbacks && entry.Id != segment.Ids.Primary && !segment.Ids.Fallbacks.Contains(entry.Id))
            {
                segment = segment with { Ids = new SegmentIds(segment.Ids.Primary, [.. segment.Ids.Fallbacks, entry.Id]) };
            }
        }

        return new NzbFile { Subject = _subject, Date = _date, Groups = [.. _groups], Segments = segments, Holes = holes };
    }

    /// <summary>What tells two file elements apart: subject and ids, but neither sizes nor dates.</summary>
    public static UInt128 Fingerprint(NzbFile file)
    {
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        hash.AppendData(Encoding.UTF8.GetBytes(file.Subject));
        Span<byte> length = stackalloc byte[1];
        foreach (var segment in file.Segments)
        {
            Append(segment.Ids.Primary, length);
            foreach (var fallback in segment.Ids.Fallbacks)
                Append(fallback, length);
            hash.AppendData([(byte)0xFF]);
        }

        return BinaryPrimitives.ReadUInt128LittleEndian(hash.GetHashAndReset());

        void Append(MessageId id, Span<byte> length)
        {
            length[0] = (byte)id.Bytes.Length;
            hash.AppendData(length);
            hash.AppendData(id.Bytes);
        }
    }

    // Segments without a number follow the highest one in document order, unless the same article is listed with a number.
    private void PlaceUnnumbered()
    {
        if (!_entries.Exists(entry => entry.Number == 0))
            return;

        var known = new HashSet<MessageId>();
        var highest = 0;
        foreach (var entry in _entries)
        {
            if (entry.Number == 0)
                continue;
            known.Add(entry.Id);
            highest = Math.Max(highest, entry.Number);
        }

        var kept = 0;
        for (var i = 0; i < _entries.Count; i++)
        {
            var entry = _entries[i];
            if (entry.Number > 0)
                _entries[kept++] = entry;
            else if (known.Add(entry.Id))
                _entries[kept++] = entry with { Number = ++highest };
        }

        _entries.RemoveRange(kept, _entries.Count - kept);
    }

    private readonly record struct Entry(int Number, MessageId Id, int Bytes);
}
