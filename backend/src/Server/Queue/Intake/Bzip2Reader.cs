using SharpCompress.Compressors;
using SharpCompress.Compressors.BZip2;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue.Intake;

/// <summary>
/// Decompresses a bzip2 file. Parallel compressors write many consecutive streams. This reader opens them one by one, because SharpCompress fails if other data
/// follows the last stream.
/// </summary>
/// <param name="file">The file, positioned at its start. It is read synchronously and stays open.</param>
internal sealed class Bzip2Reader(Stream file) : ForwardStream
{
    // Limits the streams, because a stream of 14 bytes can allocate megabytes of tables. Real compressors write at least 100 KB per stream.
    private const int MostStreams = 1_000;
    private const int BytesPerFurtherStream = 64 << 10;

    private static readonly byte[] Magic = "BZh"u8.ToArray();

    private BZip2Stream? _current;
    private long _streams;
    private long _unpacked;
    private bool _isEnded;

    /// <exception cref="SharpCompress.Common.SharpCompressException">The file is damaged.</exception>
    /// <exception cref="InvalidDataException">The file has too many streams for its unpacked size.</exception>
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        while (!_isEnded)
        {
            // Check for each stream, because a file may contain many empty ones.
            cancellationToken.ThrowIfCancellationRequested();
            _current ??= Next();
            var read = _current.Read(buffer.Span);
            _unpacked += read;
            if (read > 0)
                return ValueTask.FromResult(read);

            _current.Dispose();
            _current = null;
            _isEnded = !FindNext();
        }

        return ValueTask.FromResult(0);
    }

    protected override void Dispose(bool disposing)
    {
        if (disposing)
            _current?.Dispose();
        base.Dispose(disposing);
    }

    private BZip2Stream Next()
    {
        if (++_streams > MostStreams + (_unpacked / BytesPerFurtherStream))
            throw new InvalidDataException("The file holds next to nothing in each of very many streams.");
        return BZip2Stream.Create(file, CompressionMode.Decompress, decompressConcatenated: false, leaveOpen: true);
    }

    // Ignores any data after the last stream, like the bzip2 program.
    private bool FindNext()
    {
        var start = new byte[Magic.Length];
        var read = file.ReadAtLeast(start, start.Length, throwOnEndOfStream: false);
        file.Position -= read;
        return start.AsSpan().SequenceEqual(Magic);
    }
}
