using System.Buffers.Binary;

namespace Sluice.Usenet.Nzb;

/// <summary>A stored list of message-ids, written by <see cref="MessageIdListWriter"/>.</summary>
/// <remarks>
/// Thread-safe. Memory holds the table and the most recent frames, four per reader and about 60 KB each; a lookup in these frames completes synchronously. Owns
/// its stream; dispose the list once no slice is in use.
/// </remarks>
public sealed class MessageIdList : ISegmentIds, IDisposable
{
    private const int FramesPerReader = 4;

    private readonly Stream _stream;
    private readonly Row[] _rows;

    // One reader at a time moves the stream. The cache is small enough for a linear search under a lock.
    private readonly SemaphoreSlim _reading = new(1, 1);
    private readonly Lock _gate = new();
    private readonly LinkedList<(int Number, MessageIdFrame Frame)> _cached = new();
    private int _maxCached = FramesPerReader;

    private MessageIdList(Stream stream, Row[] rows, int count)
    {
        _stream = stream;
        _rows = rows;
        Count = count;
    }

    /// <summary>Number of segments of all files, including holes.</summary>
    public int Count { get; }

    /// <summary>Opens a list and reads its table.</summary>
    /// <param name="stream">A seekable stream with only the list. The list takes ownership, even if this method fails.</param>
    /// <exception cref="MessageIdListException">The stream is not a list, or damaged.</exception>
    /// <exception cref="IOException">The stream failed.</exception>
    public static async ValueTask<MessageIdList> OpenAsync(Stream stream, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(stream);
        try
        {
            var (rows, count) = await ReadTableAsync(stream, cancellationToken);
            return new MessageIdList(stream, rows, count);
        }
        catch
        {
            await stream.DisposeAsync();
            throw;
        }
    }

    /// <summary>Returns the ids of one file, given the index of its first segment and the number of segments.</summary>
    public ISegmentIds Slice(int first, int count)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(first);
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(first, Count - count);
        return new SliceOfList(this, first, count);
    }

    /// <summary>Sets the number of readers at different positions for which frames are cached; at least 1, the default.</summary>
    public void KeepFor(int readers)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(readers, 1);
        lock (_gate)
        {
            _maxCached = (int)Math.Min((long)readers * FramesPerReader, Math.Max(_rows.Length, FramesPerReader));
            Trim();
        }
    }

    public ValueTask<SegmentIds> GetAsync(int index, CancellationToken cancellationToken)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(index);
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(index, Count);

        var (number, place) = Math.DivRem(index, MessageIdFrame.Capacity);
        return FindCached(number) is { } frame ? new ValueTask<SegmentIds>(frame[place]) : ReadAsync(number, place, cancellationToken);
    }

    public void Dispose()
    {
        _stream.Dispose();
        _reading.Dispose();
    }

    private async ValueTask<SegmentIds> ReadAsync(int number, int place, CancellationToken cancellationToken)
    {
        await _reading.WaitAsync(cancellationToken);
        try
        {
            if (FindCached(number) is { } other)
                return other[place];

            var row = _rows[number];
            var packed = new byte[row.PackedLength];
            _stream.Position = row.Offset;
            await ReadAsync(_stream, packed, cancellationToken);
            var segments = Math.Min(MessageIdFrame.Capacity, Count - number * MessageIdFrame.Capacity);
            var frame = MessageIdFrame.Unpack(packed, row.PlainLength, row.Check, segments);
            AddToCache(number, frame);
            return frame[place];
        }
        finally
        {
            _reading.Release();
        }
    }

    private MessageIdFrame? FindCached(int number)
    {
        lock (_gate)
        {
            for (var node = _cached.First; node is not null; node = node.Next)
            {
                if (node.Value.Number != number)
                    continue;
                if (node != _cached.First)
                {
                    _cached.Remove(node);
                    _cached.AddFirst(node);
                }

                return node.Value.Frame;
            }

            return null;
        }
    }

    private void AddToCache(int number, MessageIdFrame frame)
    {
        lock (_gate)
        {
            _cached.AddFirst((number, frame));
            Trim();
        }
    }

    // Requires _gate.
    private void Trim()
    {
        while (_cached.Count > _maxCached)
            _cached.RemoveLast();
    }

    private static async ValueTask<(Row[] Rows, int Count)> ReadTableAsync(Stream stream, CancellationToken cancellationToken)
    {
        var length = stream.Length;
        if (length < MessageIdListWriter.TrailerLength)
            throw Foreign();

        var trailer = new byte[MessageIdListWriter.TrailerLength];
        stream.Position = length - trailer.Length;
        await ReadAsync(stream, trailer, cancellationToken);
        var check = BinaryPrimitives.ReadUInt64LittleEndian(trailer);
        var count = BinaryPrimitives.ReadInt32LittleEndian(trailer.AsSpan(8));
        var frames = BinaryPrimitives.ReadInt32LittleEndian(trailer.AsSpan(12));
        var room = length - trailer.Length - (long)frames * MessageIdListWriter.RowLength;
        if (!trailer.AsSpan(16).SequenceEqual(MessageIdListWriter.Magic) || count < 0 || room < 0
            || frames != (count + (long)MessageIdFrame.Capacity - 1) / MessageIdFrame.Capacity)
            throw Foreign();

        var table = new byte[frames * MessageIdListWriter.RowLength];
        stream.Position = room;
        await ReadAsync(stream, table, cancellationToken);
        if (MessageIdFrame.Check(table) != check)
            throw new MessageIdListException("The table of the stored list of message-ids is damaged.");

        var rows = new Row[frames];
        var offset = 0L;
        for (var i = 0; i < frames; i++)
        {
            var row = table.AsSpan(i * MessageIdListWriter.RowLength, MessageIdListWriter.RowLength);
            rows[i] = new Row(
                offset,
                BinaryPrimitives.ReadInt32LittleEndian(row),
                BinaryPrimitives.ReadInt32LittleEndian(row[4..]),
                BinaryPrimitives.ReadUInt64LittleEndian(row[8..]));
            if (rows[i].PackedLength <= 0 || rows[i].PackedLength > room - offset || rows[i].PlainLength is <= 0 or > MessageIdFrame.MaxPlainLength)
                throw new MessageIdListException("The table of the stored list of message-ids is malformed.");
            offset += rows[i].PackedLength;
        }

        return offset == room ? (rows, count) : throw Foreign();
    }

    private static async ValueTask ReadAsync(Stream stream, byte[] buffer, CancellationToken cancellationToken)
    {
        var read = await stream.ReadAtLeastAsync(buffer, buffer.Length, throwOnEndOfStream: false, cancellationToken);
        if (read < buffer.Length)
            throw new MessageIdListException("The stored list of message-ids is cut off.");
    }

    private static MessageIdListException Foreign() => new("The stored file is no list of message-ids.");

    private readonly record struct Row(long Offset, int PackedLength, int PlainLength, ulong Check);

    private sealed class SliceOfList(MessageIdList list, int first, int count) : ISegmentIds
    {
        public int Count => count;

        public ValueTask<SegmentIds> GetAsync(int index, CancellationToken cancellationToken)
        {
            ArgumentOutOfRangeException.ThrowIfNegative(index);
            ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(index, count);
            return list.GetAsync(first + index, cancellationToken);
        }
    }
}

/// <summary>A stored list of message-ids is damaged or not a list; the release must be added again.</summary>
public sealed class MessageIdListException(string message) : IOException(message);
