using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams.Memory;

namespace Sluice.Testing.WebDav;

/// <summary>A stream that lends the bytes of another stream: each read gets its own blocks.</summary>
/// <param name="inner">The source of the bytes; owned.</param>
/// <param name="blocks">The pool of the blocks; reports at the end whether all were returned.</param>
internal sealed class LendingStream(Stream inner, BlockPool blocks) : ForwardStream, ILendingStream
{
    /// <inheritdoc/>
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) => inner.ReadAsync(buffer, cancellationToken);

    /// <inheritdoc/>
    public async ValueTask<int> LendAsync(BlockLoan loan, int most, CancellationToken cancellationToken)
    {
        var bytes = new byte[most];
        var read = await inner.ReadAsync(bytes, cancellationToken);
        if (read == 0)
            return 0;
        var buffer = new SegmentBuffer(blocks, read);
        for (var written = 0; written < read;)
        {
            var memory = buffer.GetMemory();
            var count = Math.Min(memory.Length, read - written);
            bytes.AsMemory(written, count).CopyTo(memory);
            buffer.Advance(count);
            written += count;
        }

        buffer.LendTo(loan, 0, read);
        buffer.Release();
        return read;
    }

    /// <inheritdoc/>
    public override async ValueTask DisposeAsync()
    {
        await inner.DisposeAsync();
        await base.DisposeAsync();
    }
}
