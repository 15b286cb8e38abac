using System.Buffers;
using System.Security.Cryptography;
using Sluice.Tools.MockNntpServer.Articles;

namespace Sluice.Tools.MockNntpServer.Layouts;

/// <summary>
/// Bytes computed on demand: literal or synthetic (<see cref="SyntheticContent"/>), slices and concatenations. An archive of any size
/// consists of a few of them, so it is never completely in memory.
/// </summary>
/// <remarks>Immutable and thread-safe.</remarks>
public abstract class MockBytes
{
    private const int Block = 1 << 20;

    private readonly Lazy<uint> _crc;

    /// <param name="length">Number of bytes, known before they are computed.</param>
    protected MockBytes(long length)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        Length = length;
        _crc = new Lazy<uint>(ComputeCrc);
    }

    public static MockBytes Empty { get; } = Of(ReadOnlyMemory<byte>.Empty);

    public long Length { get; }

    /// <summary>CRC-32. The first use costs one pass over the bytes.</summary>
    public uint Crc32 => _crc.Value;

    /// <summary>Wraps literal bytes, which must not change.</summary>
    public static MockBytes Of(ReadOnlyMemory<byte> bytes) => new Deferred(bytes.Length, () => bytes);

    /// <summary>Wraps literal bytes created on first use, because creation costs a pass over other bytes.</summary>
    public static MockBytes Of(int length, Func<byte[]> make) => new Deferred(length, () => make());

    /// <param name="stream">Number of the stream, which <see cref="SyntheticContent"/> calls the file.</param>
    public static MockBytes Synthetic(ulong seed, int stream, long length) => new Generated(seed, stream, length);

    public static MockBytes Join(IEnumerable<MockBytes> pieces)
    {
        MockBytes[] kept = [.. pieces.Where(piece => piece.Length > 0)];
        return kept.Length == 1 ? kept[0] : new Joined(kept);
    }

    public MockBytes Slice(long offset, long length)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(length, Length - offset);
        return offset == 0 && length == Length ? this : new Part(this, offset, length);
    }

    /// <param name="destination">Filled completely; the range must be within <see cref="Length"/>.</param>
    public void Fill(long offset, Span<byte> destination)
    {
        if (offset < 0 || offset > Length - destination.Length)
            throw new EndOfStreamException($"There are {Length} bytes.");
        if (!destination.IsEmpty)
            Compute(offset, destination);
    }

    /// <summary>Returns all bytes as one array. Only for small contents, because all of it must fit in memory.</summary>
    public byte[] ToArray()
    {
        var all = new byte[checked((int)Length)];
        Fill(0, all);
        return all;
    }

    internal byte[] Hash(HashAlgorithmName name, long length)
    {
        using var hash = IncrementalHash.CreateHash(name);
        ForEachBlock(length, block => hash.AppendData(block));
        return hash.GetHashAndReset();
    }

    /// <summary>Computes the bytes of a valid, non-empty range.</summary>
    protected abstract void Compute(long offset, Span<byte> destination);

    /// <summary>Computes the CRC in one pass, unless the CRCs of the parts are known.</summary>
    protected virtual uint ComputeCrc()
    {
        var crc = new System.IO.Hashing.Crc32();
        ForEachBlock(Length, block => crc.Append(block));
        return crc.GetCurrentHashAsUInt32();
    }

    private void ForEachBlock(long length, Action<ReadOnlySpan<byte>> take)
    {
        var block = ArrayPool<byte>.Shared.Rent(Block);
        for (long offset = 0; offset < length; offset += Block)
        {
            var piece = block.AsSpan(0, (int)Math.Min(Block, length - offset));
            Fill(offset, piece);
            take(piece);
        }

        ArrayPool<byte>.Shared.Return(block);
    }

    private sealed class Deferred(int length, Func<ReadOnlyMemory<byte>> make) : MockBytes(length)
    {
        private readonly Lazy<ReadOnlyMemory<byte>> _bytes = new(() =>
        {
            var bytes = make();
            return bytes.Length == length ? bytes : throw new InvalidOperationException($"{bytes.Length} bytes were made instead of {length}.");
        });

        protected override void Compute(long offset, Span<byte> destination) => _bytes.Value.Span.Slice((int)offset, destination.Length).CopyTo(destination);
    }

    private sealed class Generated(ulong seed, int stream, long length) : MockBytes(length)
    {
        protected override void Compute(long offset, Span<byte> destination) => SyntheticContent.Fill(seed, stream, offset, destination);
    }

    private sealed class Part(MockBytes whole, long first, long length) : MockBytes(length)
    {
        protected override void Compute(long offset, Span<byte> destination) => whole.Compute(first + offset, destination);
    }

    private sealed class Joined : MockBytes
    {
        private readonly MockBytes[] _pieces;
        private readonly long[] _starts;

        public Joined(MockBytes[] pieces)
            : base(pieces.Sum(piece => piece.Length))
        {
            _pieces = pieces;
            _starts = new long[pieces.Length];
            for (var i = 1; i < pieces.Length; i++)
                _starts[i] = _starts[i - 1] + pieces[i - 1].Length;
        }

        protected override void Compute(long offset, Span<byte> destination)
        {
            var found = Array.BinarySearch(_starts, offset);
            for (var i = found >= 0 ? found : ~found - 1; !destination.IsEmpty; i++)
            {
                var within = offset - _starts[i];
                var take = (int)Math.Min(destination.Length, _pieces[i].Length - within);
                _pieces[i].Compute(within, destination[..take]);
                destination = destination[take..];
                offset += take;
            }
        }

        protected override uint ComputeCrc() =>
            _pieces.Aggregate(0u, static (crc, piece) => JoinedCrc.Of(crc, piece.Crc32, piece.Length));
    }
}
