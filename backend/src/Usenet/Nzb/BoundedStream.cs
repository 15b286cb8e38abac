namespace Sluice.Usenet.Nzb;

/// <summary>
/// A forward-only stream that begins with bytes read earlier, counts what passes, and refuses to pass more than allowed.
/// </summary>
/// <remarks>Not thread-safe. The inner stream is disposed with this one when it was handed over.</remarks>
internal sealed class BoundedStream(Stream inner, ReadOnlyMemory<byte> prefix, Func<long, string?> refusal, bool ownsInner) : Stream
{
    private ReadOnlyMemory<byte> _prefix = prefix;

    /// <summary>Bytes handed out so far.</summary>
    public long Passed { get; private set; }

    public override bool CanRead => true;

    public override bool CanSeek => false;

    public override bool CanWrite => false;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => Passed;
        set => throw new NotSupportedException();
    }

    public override int Read(Span<byte> buffer) => Count(TakePrefix(buffer) is var taken and > 0 ? taken : inner.Read(buffer));

    public override int Read(byte[] buffer, int offset, int count) => Read(buffer.AsSpan(offset, count));

    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
        Count(TakePrefix(buffer.Span) is var taken and > 0 ? taken : await inner.ReadAsync(buffer, cancellationToken));

    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override void Flush()
    {
        // Nothing is ever written.
    }

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    protected override void Dispose(bool disposing)
    {
        if (disposing && ownsInner)
            inner.Dispose();
        base.Dispose(disposing);
    }

    private int TakePrefix(Span<byte> buffer)
    {
        var count = Math.Min(buffer.Length, _prefix.Length);
        _prefix.Span[..count].CopyTo(buffer);
        _prefix = _prefix[count..];
        return count;
    }

    private int Count(int read)
    {
        Passed += read;
        return refusal(Passed) is { } what ? throw new NzbFormatException(NzbFault.TooLarge, what) : read;
    }
}
