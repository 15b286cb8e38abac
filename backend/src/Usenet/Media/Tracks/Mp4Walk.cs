using System.Buffers.Binary;

namespace Sluice.Usenet.Media.Tracks;

/// <summary>Walks an MP4 or QuickTime file to <c>moov</c>, which may be at either end, and from track to track.</summary>
/// <remarks>Skips sample tables, because they grow with the film, except subtitle tables if requested.</remarks>
internal sealed class Mp4Walk : IHeaderWalk
{
    // Sample descriptions have a few hundred bytes. Longer ones are truncated, because the first entry suffices.
    private const int MaxContent = 64 << 10;
    private const int MaxTracks = 128;

    private readonly MediaKind _kind;
    private readonly bool _takesTables;
    private readonly List<MediaTrack> _tracks = [];

    // The enclosing boxes with type and end, innermost on top; no deeper than the path to the sample descriptions.
    private readonly Stack<(uint Type, long End)> _parents = [];

    private Mp4Track _track = new();
    private TimeSpan? _duration;
    private bool _isWhole;
    private uint _timeScale;

    // Type of the box whose content is needed next; 0 if a head is needed.
    private uint _content;
    private long _afterContent;

    public Mp4Walk(MediaKind kind, long fileLength, bool takesTables)
    {
        (_kind, _takesTables) = (kind, takesTables);
        _parents.Push((0, fileLength));
    }

    public long Offset { get; private set; }

    public int Length { get; private set; } = Mp4Head.MaxLength;

    public MediaTracks Result => _isWhole
        ? new MediaTracks(TracksVerdict.Known, _kind, _duration, _tracks)
        : new MediaTracks(TracksVerdict.Damaged, _kind, null, []);

    public bool Take(ReadOnlySpan<byte> bytes)
    {
        if (_content != 0)
            return TakeContent(bytes);
        if (!Mp4Head.TryRead(bytes, out var head))
            return false;
        var end = head.Size == 0 ? _parents.Peek().End : Offset + head.Size;
        if (end > _parents.Peek().End || end <= Offset)
            return false;
        var content = Offset + head.Length;
        switch (Use(head.Type, _parents.Peek().Type))
        {
            case BoxUse.Enter:
                _parents.Push((head.Type, end));
                return Go(content);
            case BoxUse.Read when end > content:
                (_content, Offset, Length) = (head.Type, content, (int)Math.Min(end - content, Mp4Tables.Has(head.Type) ? Mp4Tables.MaxContent : MaxContent));
                _afterContent = end;
                return true;
            default:
                return Go(end);
        }
    }

    private enum BoxUse
    {
        Skip,
        Enter,
        Read,
    }

    /// <summary>Decides how to treat a box inside its parent.</summary>
    private BoxUse Use(uint type, uint parent)
    {
        if (parent == 0)
            return type == Mp4Head.Of("moov"u8) ? BoxUse.Enter : BoxUse.Skip;
        if (parent == Mp4Head.Of("moov"u8))
            return type == Mp4Head.Of("mvhd"u8) ? BoxUse.Read : type == Mp4Head.Of("trak"u8) ? BoxUse.Enter : BoxUse.Skip;
        if (parent == Mp4Head.Of("trak"u8))
        {
            return type == Mp4Head.Of("tkhd"u8) ? BoxUse.Read
                : type == Mp4Head.Of("mdia"u8) || (_takesTables && type == Mp4Head.Of("edts"u8)) ? BoxUse.Enter
                : BoxUse.Skip;
        }

        if (parent == Mp4Head.Of("mdia"u8))
        {
            return type == Mp4Head.Of("mdhd"u8) || type == Mp4Head.Of("hdlr"u8) || type == Mp4Head.Of("elng"u8) ? BoxUse.Read
                : type == Mp4Head.Of("minf"u8) ? BoxUse.Enter
                : BoxUse.Skip;
        }

        if (parent == Mp4Head.Of("minf"u8))
            return type == Mp4Head.Of("stbl"u8) ? BoxUse.Enter : BoxUse.Skip;
        if (parent == Mp4Head.Of("edts"u8) || _track.HasText)
            return Mp4Tables.Has(type) ? BoxUse.Read : BoxUse.Skip;
        return type == Mp4Head.Of("stsd"u8) ? BoxUse.Read : BoxUse.Skip;
    }

    private bool TakeContent(ReadOnlySpan<byte> bytes)
    {
        var type = _content;
        _content = 0;
        if (type == Mp4Head.Of("mvhd"u8))
        {
            (_timeScale, _duration) = DurationOf(bytes);
            return Go(_afterContent);
        }

        _track.Take(type, bytes);
        if (type != Mp4Head.Of("stsd"u8) || (_takesTables && _track.HasText))
            return Go(_afterContent);

        // The tables follow all needed boxes, so continue with the next track.
        while (_parents.Peek().Type != Mp4Head.Of("trak"u8))
            _parents.Pop();
        return Go(_parents.Peek().End);
    }

    /// <summary>Continues at an offset and leaves the boxes that end there.</summary>
    private bool Go(long offset)
    {
        (Offset, Length) = (offset, Mp4Head.MaxLength);
        while (_parents.Count > 1 && _parents.Peek().End <= offset)
        {
            var (type, _) = _parents.Pop();
            if (type == Mp4Head.Of("moov"u8))
            {
                _isWhole = true;
                return false;
            }

            if (type == Mp4Head.Of("trak"u8))
            {
                if (_track.Read(_takesTables ? _timeScale : 0) is { } track && _tracks.Count < MaxTracks)
                    _tracks.Add(track);
                _track = new Mp4Track();
            }
        }

        return _parents.Count > 1 || offset < _parents.Peek().End;
    }

    /// <summary>Reads <c>mvhd</c>, section 8.2.2; version 1 has longer fields.</summary>
    private static (uint Scale, TimeSpan? Duration) DurationOf(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length < 20 || (bytes[0] == 1 && bytes.Length < 32))
            return (0, null);
        var (scale, duration) = bytes[0] == 1
            ? (BinaryPrimitives.ReadUInt32BigEndian(bytes[20..]), BinaryPrimitives.ReadUInt64BigEndian(bytes[24..]))
            : (BinaryPrimitives.ReadUInt32BigEndian(bytes[12..]), BinaryPrimitives.ReadUInt32BigEndian(bytes[16..]));
        return (scale, scale == 0 || duration is ulong.MaxValue or uint.MaxValue ? null : Durations.Of((double)duration / scale * TimeSpan.TicksPerSecond));
    }
}
