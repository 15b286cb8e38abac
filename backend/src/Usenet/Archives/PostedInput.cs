using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Reading;

namespace Sluice.Usenet.Archives;

/// <summary>A posted file as the headers of an archive are read from it: an article at a time, and nothing ahead.</summary>
/// <remarks>
/// What the probe has kept of the file is given without another fetch. Its last bytes are proved. Its first ones come from an article that was
/// not read to its end: headers have checksums of their own, and where something does not fit the caller opens the file again without them.
/// </remarks>
/// <param name="engine">Reads; not owned.</param>
/// <param name="reads">Holds the number of reads at a time down.</param>
/// <param name="file">The posted file.</param>
/// <param name="first">Its first bytes as they came, or none.</param>
/// <param name="last">Its last bytes, proved, or none.</param>
internal sealed class PostedInput(StreamEngine engine, SemaphoreSlim reads, PostedFile file, ReadOnlyMemory<byte> first, ReadOnlyMemory<byte> last) : IArchiveInput
{
    // Headers and the data behind them are looked at in small steps: each stretch is read once.
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

    // The last byte of a range is given out when nothing is owed any more, so that a range that was read whole is proved.
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
