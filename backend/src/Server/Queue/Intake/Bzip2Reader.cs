using SharpCompress.Compressors;
using SharpCompress.Compressors.BZip2;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue.Intake;

/// <summary>
/// Unpacks a bzip2 file. Parallel packers write it as many streams in a row. SharpCompress could read these as one, but fails where
/// anything else follows the last; so it is given one at a time.
/// </summary>
/// <param name="file">At its beginning; read where it stands, without waiting; stays open.</param>
internal sealed class Bzip2Reader(Stream file) : ForwardStream
{
    // Each stream costs tables of megabytes, and one of nothing is 14 bytes long. A packer begins one for 100 KB at the least.
    private const int MostStreams = 1_000;
    private const int BytesPerFurtherStream = 64 << 10;

    private static readonly byte[] Magic = "BZh"u8.ToArray();

    private BZip2Stream? _current;
    private long _streams;
    private long _unpacked;
    private bool _isEnded;

    /// <inheritdoc/>
    /// <exception cref="SharpCompress.Common.SharpCompressException">The file is damaged.</exception>
    /// <exception cref="InvalidDataException">It holds more streams than what they unpack to gives a reason for.</exception>
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        while (!_isEnded)
        {
            // A file may hold many streams of nothing.
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

    /// <inheritdoc/>
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

    // What follows the last stream and is none itself is passed over, as the bzip2 program does.
    private bool FindNext()
    {
        var start = new byte[Magic.Length];
        var read = file.ReadAtLeast(start, start.Length, throwOnEndOfStream: false);
        file.Position -= read;
        return start.AsSpan().SequenceEqual(Magic);
    }
}
