namespace Sluice.Usenet.Media.Tracks;

/// <summary>Walks the elements of a Matroska file (RFC 9559) to <c>Info</c> and <c>Tracks</c>.</summary>
/// <remarks>Follows the file's index if there is one, otherwise visits one element after another up to the first cluster.</remarks>
internal sealed class MatroskaWalk(MediaKind kind, long fileLength) : IHeaderWalk
{
    private const uint SegmentId = 0x18538067;
    private const uint SeekHeadId = 0x114D9B74;
    private const uint InfoId = 0x1549A966;
    private const uint TracksId = 0x1654AE6B;
    private const uint CuesId = 0x1C53BB6B;
    private const uint ClusterId = 0x1F43B675;

    // Subtitle palettes and fonts are the largest content, about ten KiB per track.
    private const int MaxTracksElement = 2 << 20;
    private const int MaxElement = 256 << 10;
    private const int MaxTracks = 128;

    private readonly List<MediaTrack> _tracks = [];

    // Element positions from the index. Each is tried once, so that a circular index causes no loop.
    private readonly Dictionary<uint, long> _places = [];

    // Nanoseconds per unit of time.
    private ulong _scale = 1_000_000;
    private long _segment = -1;
    private bool _hasTracks;
    private bool _hasInfo;
    private TimeSpan? _duration;

    // Id of the element whose content is needed next; 0 if a head is needed.
    private uint _content;
    private uint _expected;
    private long _afterIndex;

    public long Offset { get; private set; }

    public int Length { get; private set; } = EbmlHead.MaxLength;

    /// <summary>Offset of the segment's content, to which the file's positions are relative; -1 if not found yet.</summary>
    public long Segment => _segment;

    /// <summary>Offset of the film's time index, <c>Cues</c>; null if the file does not state it.</summary>
    public long? Cues { get; private set; }

    /// <summary>Nanoseconds per unit of time.</summary>
    public ulong Scale => _scale;

    public MediaTracks Result => _hasTracks
        ? new MediaTracks(TracksVerdict.Known, kind, _duration, _tracks)
        : new MediaTracks(TracksVerdict.Damaged, kind, null, []);

    public bool Take(ReadOnlySpan<byte> bytes) => _content == 0 ? TakeHead(bytes) : TakeContent(bytes);

    private bool TakeHead(ReadOnlySpan<byte> bytes)
    {
        if (!EbmlHead.TryRead(bytes, out var head))
            return Recover();
        if (_expected != 0 && head.Id != _expected)
            return Recover();
        _expected = 0;
        var content = Offset + head.Length;
        switch (head.Id)
        {
            case SegmentId when _segment < 0:
                _segment = content;
                return Go(content);
            case ClusterId:
                return false;
            case SeekHeadId or InfoId or TracksId when _segment >= 0:
                if (head.Size < 0 || head.Size > (head.Id == TracksId ? MaxTracksElement : MaxElement) || content + head.Size > fileLength)
                    return Recover();
                (_content, Offset, Length) = (head.Id, content, (int)head.Size);
                return true;
            default:
                return head.Size < 0 ? Recover() : Go(content + head.Size);
        }
    }

    private bool TakeContent(ReadOnlySpan<byte> bytes)
    {
        var (id, end) = (_content, Offset + Length);
        _content = 0;
        switch (id)
        {
            case SeekHeadId:
                ReadIndex(bytes);
                _afterIndex = end;
                break;
            case InfoId:
                ReadInfo(bytes);
                _hasInfo = true;
                break;
            default:
                ReadTracks(bytes);
                _hasTracks = true;
                break;
        }

        if (_hasTracks && _hasInfo)
            return false;
        _places.Remove(id);
        return GoToPlace() || Go(end);
    }

    /// <summary>Jumps once to each missing element, in file order because one read often covers several. Another index comes last.</summary>
    private bool GoToPlace()
    {
        var (id, place) = _places.OrderBy(told => told.Key == SeekHeadId).ThenBy(told => told.Value).FirstOrDefault();
        if (id == 0 || (id == SeekHeadId && _hasTracks))
            return false;
        _places.Remove(id);
        _expected = id;
        return Go(place);
    }

    /// <summary>Recovers from a wrong index or an unreadable element: tries the next index entry, then continues after the index.</summary>
    private bool Recover()
    {
        if (_expected != 0 && GoToPlace())
            return true;
        (_expected, var behind) = (0, _afterIndex);
        _afterIndex = 0;
        return behind > 0 && Go(behind);
    }

    private bool Go(long offset)
    {
        (Offset, Length) = (offset, EbmlHead.MaxLength);
        return offset >= 0 && offset < fileLength;
    }

    /// <summary>Reads <c>SeekHead { Seek { SeekID, SeekPosition } }</c>, section 5.1.1; positions are relative to the segment.</summary>
    private void ReadIndex(ReadOnlySpan<byte> bytes)
    {
        var seeks = new EbmlElements(bytes);
        while (seeks.Next())
        {
            if (seeks.Id != 0x4DBB)
                continue;
            var (id, place) = (0U, 0UL);
            var parts = new EbmlElements(seeks.Content);
            while (parts.Next())
            {
                if (parts.Id == 0x53AB)
                    id = (uint)EbmlHead.Number(parts.Content);
                else if (parts.Id == 0x53AC)
                    place = EbmlHead.Number(parts.Content);
            }

            if (place == 0 || place >= (ulong)(fileLength - _segment))
                continue;
            if (id is TracksId or InfoId or SeekHeadId)
                _places.TryAdd(id, _segment + (long)place);
            else if (id == CuesId)
                Cues ??= _segment + (long)place;
        }
    }

    /// <summary>Reads <c>Info { TimestampScale, Duration }</c>, section 5.1.2.</summary>
    private void ReadInfo(ReadOnlySpan<byte> bytes)
    {
        const double nanosecondsOfTick = 100;
        var duration = 0.0;
        var elements = new EbmlElements(bytes);
        while (elements.Next())
        {
            if (elements.Id == 0x2AD7B1)
                _scale = EbmlHead.Number(elements.Content);
            else if (elements.Id == 0x4489)
                duration = EbmlHead.Float(elements.Content);
        }

        _duration = Durations.Of(duration * _scale / nanosecondsOfTick);
    }

    private void ReadTracks(ReadOnlySpan<byte> bytes)
    {
        var elements = new EbmlElements(bytes);
        while (elements.Next() && _tracks.Count < MaxTracks)
        {
            if (elements.Id == 0xAE && MatroskaTrack.Read(elements.Content) is { } track)
                _tracks.Add(track);
        }
    }
}

internal static class Durations
{
    // One year, because a longer duration is an error in the file.
    private const double MaxTicks = 365.0 * TimeSpan.TicksPerDay;

    /// <summary>Returns the duration; null if invalid.</summary>
    public static TimeSpan? Of(double ticks) => ticks is > 0 and < MaxTicks ? TimeSpan.FromTicks((long)ticks) : null;
}
