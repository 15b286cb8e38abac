using System.Buffers.Binary;
using Sluice.Usenet.Media.Tracks;

namespace Sluice.Usenet.Media.Subtitles;

/// <summary>Walks the elements of clusters (RFC 9559 section 5.1.3) and collects the blocks of one track. Skips the payload of other tracks.</summary>
/// <remarks>Clusters of unknown size end where the next element of their level begins, so all elements are walked as one list.</remarks>
/// <param name="offset">Offset of the first element.</param>
/// <param name="to">End time in milliseconds: the walk stops at the first cluster that begins at or after it.</param>
internal sealed class ClusterWalk(TextSource source, MatroskaClock clock, long offset, long to) : IFileWalk
{
    public const uint ClusterId = 0x1F43B675;

    /// <summary>Bytes needed to identify an element's track: the heads of a group and its block, then track number, time and flags.</summary>
    public const int MaxHead = 2 * EbmlHead.MaxLength + 8 + 3;

    private const uint TimestampId = 0xE7;
    private const uint SimpleBlockId = 0xA3;
    private const uint BlockGroupId = 0xA0;
    private const uint BlockId = 0xA1;
    private const uint DurationId = 0x9B;

    private readonly List<(long Time, long? Duration, string Text)> _found = [];

    // The cluster's time, in the file's time units.
    private ulong _cluster;

    // Id of the element whose content is needed next; 0 if a head is needed.
    private uint _content;

    /// <summary>Whether only one block is read.</summary>
    public bool IsOne { get; init; }

    public long Offset { get; private set; } = offset;

    public int Length { get; private set; } = MaxHead;

    /// <summary>The blocks of the track, with time and duration in milliseconds.</summary>
    public IReadOnlyList<(long Time, long? Duration, string Text)> Found => _found;

    /// <summary>Milliseconds at which the current cluster begins.</summary>
    public long Time => clock.Milliseconds(_cluster);

    /// <summary>Whether the bytes were not a valid cluster element.</summary>
    public bool IsDamaged { get; private set; }

    public bool Take(ReadOnlySpan<byte> bytes)
    {
        if (_content != 0)
            return TakeContent(bytes);
        if (!EbmlHead.TryRead(bytes, out var head))
            return Fail();
        var inside = bytes[head.Length..];
        switch (head.Id)
        {
            case ClusterId when !IsOne:
                return Go(Offset + head.Length);
            case TimestampId when head.Size is >= 0 and <= 8 && head.Size <= inside.Length && !IsOne:
                _cluster = EbmlHead.Number(inside[..(int)head.Size]);
                return Time >= 0 && Time < to && Go(Offset + head.Length + head.Size);
            case SimpleBlockId when IsOfTrack(inside) && head.Size is > 0 and <= FilmSubtitles.MaxText:
            case BlockGroupId when IsGroupOfTrack(inside) && head.Size is > 0 and <= FilmSubtitles.MaxText:
                (_content, Offset, Length) = (head.Id, Offset + head.Length, (int)head.Size);
                return true;
            default:
                return head.Size < 0 || IsOne ? Fail() : Go(Offset + head.Length + head.Size);
        }
    }

    private bool TakeContent(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length < Length)
            return Fail();
        if (_content == SimpleBlockId)
        {
            Add(bytes, null);
        }
        else
        {
            ulong? duration = null;
            ReadOnlySpan<byte> block = [];
            var parts = new EbmlElements(bytes);
            while (parts.Next())
            {
                if (parts.Id == BlockId)
                    block = parts.Content;
                else if (parts.Id == DurationId)
                    duration = EbmlHead.Number(parts.Content);
            }

            Add(block, duration);
        }

        _content = 0;
        return !IsOne && _found.Count < FilmSubtitles.MaxCues && Go(Offset + Length);
    }

    /// <summary>Adds a block: <c>track(VINT) time(16) flags(8) payload</c>. Text blocks are never laced.</summary>
    private void Add(ReadOnlySpan<byte> block, ulong? duration)
    {
        const int lacing = 0x06;
        if (!TryReadTrack(block, out var track, out var length) || track != source.Number || block.Length < length + 3 || (block[length + 2] & lacing) != 0)
            return;
        var time = (long)Math.Min(_cluster, long.MaxValue >> 1) + BinaryPrimitives.ReadInt16BigEndian(block[length..]);
        var milliseconds = clock.Milliseconds((ulong)Math.Max(0, time));
        var lasting = duration is { } units && clock.Milliseconds(units) is >= 0 and var known ? known : (long?)null;
        if (milliseconds >= 0)
            _found.Add((milliseconds, lasting, CueBlock.TextOf(source, block[(length + 3)..].ToArray())));
    }

    private bool IsOfTrack(ReadOnlySpan<byte> block) => TryReadTrack(block, out var track, out _) && track == source.Number;

    /// <summary>Whether a group may have a block of the track. A group must be read whole if its block is not its first element.</summary>
    private bool IsGroupOfTrack(ReadOnlySpan<byte> group) => EbmlHead.TryRead(group, out var head) && (head.Id != BlockId || IsOfTrack(group[head.Length..]));

    private static bool TryReadTrack(ReadOnlySpan<byte> block, out ulong track, out int length)
    {
        (track, length) = (0, 0);
        if (block.IsEmpty || block[0] == 0)
            return false;
        length = System.Numerics.BitOperations.LeadingZeroCount((uint)block[0]) - 23;
        if (block.Length < length)
            return false;
        track = EbmlHead.Number(block[..length]) & ((1UL << (7 * length)) - 1);
        return true;
    }

    private bool Fail()
    {
        IsDamaged = true;
        return false;
    }

    private bool Go(long next)
    {
        (Offset, Length) = (next, MaxHead);
        return next > 0;
    }
}
