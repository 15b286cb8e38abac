using ICSharpCode.SharpZipLib.BZip2;

namespace Sluice.Server.Queue;

/// <summary>Unpacks a bzip2 file. Parallel packers write it as many streams in a row, which SharpZipLib takes one at a time.</summary>
/// <param name="file">At its beginning; stays open.</param>
internal sealed class Bzip2Reader(Stream file) : Stream
{
    private static readonly byte[] Magic = "BZh"u8.ToArray();

    private BZip2InputStream? _current;
    private bool _isEnded;

    /// <inheritdoc/>
    public override bool CanRead => true;

    /// <inheritdoc/>
    public override bool CanSeek => false;

    /// <inheritdoc/>
    public override bool CanWrite => false;

    /// <inheritdoc/>
    public override long Length => throw new NotSupportedException();

    /// <inheritdoc/>
    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    /// <inheritdoc/>
    /// <exception cref="BZip2Exception">The file is damaged.</exception>
    public override int Read(byte[] buffer, int offset, int count)
    {
        while (!_isEnded)
        {
            _current ??= new BZip2InputStream(file) { IsStreamOwner = false };
            var read = _current.Read(buffer, offset, count);
            if (read > 0)
                return read;

            _current.Dispose();
            _current = null;
            _isEnded = !FindNext();
        }

        return 0;
    }

    /// <inheritdoc/>
    public override void Flush()
    {
        // Nothing is ever written.
    }

    /// <inheritdoc/>
    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    /// <inheritdoc/>
    public override void SetLength(long value) => throw new NotSupportedException();

    /// <inheritdoc/>
    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    /// <inheritdoc/>
    protected override void Dispose(bool disposing)
    {
        if (disposing)
            _current?.Dispose();
        base.Dispose(disposing);
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
