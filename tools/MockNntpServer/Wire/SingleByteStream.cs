namespace Sluice.Tools.MockNntpServer.Wire;

/// <summary>Writes the first bytes of a connection one by one, so that TLS makes a record of each; everything else passes.</summary>
internal sealed class SingleByteStream(Stream inner, int bytes) : Stream
{
    private int _left = bytes;

    public override bool CanRead => true;

    public override bool CanSeek => false;

    public override bool CanWrite => true;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    public override async ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        for (; _left > 0 && !buffer.IsEmpty; _left--, buffer = buffer[1..])
            await inner.WriteAsync(buffer[..1], cancellationToken);
        if (!buffer.IsEmpty)
            await inner.WriteAsync(buffer, cancellationToken);
    }

    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) => inner.ReadAsync(buffer, cancellationToken);

    public override void Flush() => inner.Flush();

    public override int Read(byte[] buffer, int offset, int count) => inner.Read(buffer, offset, count);

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException("Answers are written asynchronously.");
}
