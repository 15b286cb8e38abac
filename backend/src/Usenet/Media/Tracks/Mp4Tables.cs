using System.Buffers.Binary;

namespace Sluice.Usenet.Media.Tracks;

/// <summary>A sample of a track: where its bytes are, and when it is shown.</summary>
/// <param name="Start">Milliseconds since the start of the film.</param>
/// <param name="End">Milliseconds since the start of the film.</param>
/// <param name="Offset">Offset in the file.</param>
/// <param name="Size">Length in bytes.</param>
internal readonly record struct Mp4Sample(long Start, long End, long Offset, int Size);

/// <summary>The sample tables of one MP4 track, as stored in its boxes (ISO/IEC 14496-12 sections 8.6 and 8.7).</summary>
internal sealed record Mp4Tables
{
    /// <summary>Maximum size of a table in bytes, enough for 100,000 lines. A film has about 1,500.</summary>
    public const int MaxContent = 1 << 20;

    // The maximum number of cues in a subtitle file.
    private const int MaxSamples = 100_000;

    /// <summary>The track's time units per second.</summary>
    public uint TimeScale { get; init; }

    /// <summary>The film's time units per second, in which the edit list states its delay.</summary>
    public uint FilmScale { get; init; }

    private ReadOnlyMemory<byte> Times { get; init; }

    private ReadOnlyMemory<byte> Sizes { get; init; }

    private ReadOnlyMemory<byte> Chunks { get; init; }

    private ReadOnlyMemory<byte> Offsets { get; init; }

    private ReadOnlyMemory<byte> Edits { get; init; }

    private bool HasLongOffsets { get; init; }

    /// <summary>Whether a box is one of the tables.</summary>
    public static bool Has(uint type) =>
        type == Mp4Head.Of("stts"u8) || type == Mp4Head.Of("stsz"u8) || type == Mp4Head.Of("stsc"u8)
        || type == Mp4Head.Of("stco"u8) || type == Mp4Head.Of("co64"u8) || type == Mp4Head.Of("elst"u8);

    /// <summary>Returns the tables with one more box; copies its content.</summary>
    public Mp4Tables With(uint type, ReadOnlySpan<byte> content)
    {
        var bytes = content.ToArray();
        return type switch
        {
            _ when type == Mp4Head.Of("stts"u8) => this with { Times = bytes },
            _ when type == Mp4Head.Of("stsz"u8) => this with { Sizes = bytes },
            _ when type == Mp4Head.Of("stsc"u8) => this with { Chunks = bytes },
            _ when type == Mp4Head.Of("elst"u8) => this with { Edits = bytes },
            _ => this with { Offsets = bytes, HasLongOffsets = type == Mp4Head.Of("co64"u8) },
        };
    }

    /// <summary>Returns the samples in order; fewer if a table ends early.</summary>
    public IReadOnlyList<Mp4Sample> ListSamples()
    {
        var samples = new List<Mp4Sample>();
        if (TimeScale == 0 || Sizes.Length < 12)
            return samples;
        // stsz: version(8) flags(24) sample_size(32) sample_count(32) entry_size(32)*
        var sizes = Sizes.Span;
        var uniform = Number(sizes, 4);
        var count = (int)Math.Min(Number(sizes, 8), MaxSamples);
        var times = new Runs(Times.Span);
        var chunks = new ChunkWalk(Chunks.Span, Offsets.Span, HasLongOffsets);
        var (time, delay) = (0L, Delay());
        for (var i = 0; i < count && times.Next(out var duration) && chunks.Next(out var offset); i++)
        {
            var size = uniform > 0 ? uniform : 12 + 4 * (i + 1) <= sizes.Length ? Number(sizes, 12 + 4 * i) : 0;
            chunks.Skip(size);
            if (size <= int.MaxValue)
                samples.Add(new Mp4Sample(Milliseconds(time, TimeScale) + delay, Milliseconds(time + duration, TimeScale) + delay, offset, (int)size));
            time += duration;
        }

        return samples;
    }

    /// <summary>Returns the edit list's delay in milliseconds (section 8.6.6): the length of an empty edit, minus the start of the next edit.</summary>
    private long Delay()
    {
        const int maxEdits = 16;
        var edits = Edits.Span;
        if (edits.Length < 8 || FilmScale == 0)
            return 0;
        var isLong = edits[0] == 1;
        var (delay, step) = (0L, isLong ? 20 : 12);
        for (var (at, i) = (8, 0); i < Math.Min(Number(edits, 4), maxEdits) && at + step <= edits.Length; at += step, i++)
        {
            var length = isLong ? BinaryPrimitives.ReadInt64BigEndian(edits[at..]) : Number(edits, at);
            var start = isLong ? BinaryPrimitives.ReadInt64BigEndian(edits[(at + 8)..]) : BinaryPrimitives.ReadInt32BigEndian(edits[(at + 4)..]);
            if (start >= 0)
                return delay - Milliseconds(start, TimeScale);
            delay += Milliseconds(length, FilmScale);
        }

        return delay;
    }

    private static long Milliseconds(long time, uint scale) => (long)(time * 1000.0 / scale);

    private static uint Number(ReadOnlySpan<byte> bytes, int at) => BinaryPrimitives.ReadUInt32BigEndian(bytes[at..]);

    /// <summary>Expands <c>stts</c>: <c>version(8) flags(24) entry_count(32) (sample_count(32) sample_delta(32))*</c>.</summary>
    private ref struct Runs(ReadOnlySpan<byte> table)
    {
        private const int Entry = 8;

        private readonly ReadOnlySpan<byte> _table = table;

        // The head before the first entry is as long as an entry.
        private int _at;
        private uint _left;

        public bool Next(out uint value)
        {
            value = 0;
            while (_left == 0)
            {
                _at += Entry;
                if (_at + Entry > _table.Length)
                    return false;
                _left = Number(_table, _at);
            }

            _left--;
            value = Number(_table, _at + 4);
            return true;
        }
    }

    /// <summary>
    /// Finds the offset of each sample from <c>stsc</c>, <c>(first_chunk(32) samples_per_chunk(32) description(32))*</c>, and <c>stco</c> or <c>co64</c>.
    /// </summary>
    private ref struct ChunkWalk(ReadOnlySpan<byte> chunks, ReadOnlySpan<byte> offsets, bool isLong)
    {
        private readonly ReadOnlySpan<byte> _chunks = chunks;
        private readonly ReadOnlySpan<byte> _offsets = offsets;
        private readonly int _step = isLong ? 8 : 4;
        private int _entry = 8;

        // 1-based, as in the table.
        private uint _chunk;
        private uint _left;
        private long _offset;

        public bool Next(out long offset)
        {
            offset = 0;
            while (_left == 0)
            {
                _chunk++;
                if (_entry + 24 <= _chunks.Length && Number(_chunks, _entry + 12) == _chunk)
                    _entry += 12;
                var at = 8 + (_chunk - 1L) * _step;
                if (_entry + 12 > _chunks.Length || at + _step > _offsets.Length)
                    return false;
                _left = Number(_chunks, _entry + 4);
                _offset = _step == 8 ? BinaryPrimitives.ReadInt64BigEndian(_offsets[(int)at..]) : Number(_offsets, (int)at);
            }

            _left--;
            offset = _offset;
            return true;
        }

        public void Skip(uint size) => _offset += size;
    }
}
