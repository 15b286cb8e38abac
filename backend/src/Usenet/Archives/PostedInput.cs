using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Streams.Reading;

namespace Sluice.Usenet.Archives;

/// <summary>Reads archive headers of a posted file, one article at a time and without read-ahead.</summary>
/// <remarks>
/// Serves the bytes kept by the probe without another fetch. The last bytes are verified. The first bytes are not, because the probe read only part of their
/// article. Headers have checksums; on a mismatch the caller opens the file again without these first bytes.
/// </remarks>
internal sealed class PostedInput(StreamEngine engine, SemaphoreSlim reads, PostedFile file, ReadOnlyMemory<byte> first, ReadOnlyMemory<byte> last) : IArchiveInput
{
    // Headers are read in small steps, so each fetched page is kept for the next step.
    private const int PageLength = 16 << 10;

    private volatile Page? _page;

    public long Length => file.Map.Length;

    public async ValueTask ReadAsync(long offset, Memory<byte> buffer, CancellationToken cancellationToken)
    {
        if (TryCopy(first, 0, offset, buffer) || TryCopy(last, Length - last.Length, offset, buffer)
            || (_page is { } known && TryCopy(known.Bytes, known.Offset, offset, buffer)))
        {
            return;
        }

        if (buffer.Length >= PageLength)
        {
            await ReadProvedAsync(offset, buffer, cancellationToken);
            return;
        }

        var end = Math.Min(offset + PageLength, file.Map.Locate(offset + Math.Max(buffer.Length, 1) - 1).End);
        var page = new Page(offset, new byte[end - offset]);
        await ReadProvedAsync(offset, page.Bytes, cancellationToken);
        _page = page;
        page.Bytes.AsMemory(0, buffer.Length).CopyTo(buffer);
    }

    private static bool TryCopy(ReadOnlyMemory<byte> known, long begin, long offset, Memory<byte> buffer)
    {
        if (offset < begin || offset + buffer.Length > begin + known.Length)
            return false;
        known.Slice((int)(offset - begin), buffer.Length).CopyTo(buffer);
        return true;
    }

    // The stream withholds the last byte of a range until all checks have passed, so a fully read range is verified.
    private async ValueTask ReadProvedAsync(long offset, Memory<byte> buffer, CancellationToken cancellationToken)
    {
        await reads.WaitAsync(cancellationToken);
        try
        {
            await using var stream = engine.Open([FileExtent.Whole(file)], OperationLane.Import, offset, offset + buffer.Length);
            await stream.ReadExactlyAsync(buffer, cancellationToken);
        }
        finally
        {
            reads.Release();
        }
    }

    private sealed record Page(long Offset, byte[] Bytes);
}
