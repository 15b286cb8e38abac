namespace Sluice.Server.Tests.Database;

/// <summary>So many zero bytes, without holding them; may break instead of ending.</summary>
internal sealed class ZeroStream(long length) : Stream
{
    private long _position;

    public bool BreaksAtEnd { get; init; }

    public override bool CanRead => true;

    public override bool CanSeek => false;

    public override bool CanWrite => false;

    public override long Length => length;

    public override long Position { get => _position; set => throw new NotSupportedException(); }

    public override int Read(byte[] buffer, int offset, int count)
    {
        var take = (int)Math.Min(count, length - _position);
        if (take == 0 && BreaksAtEnd)
            throw new EndOfStreamException();

        Array.Clear(buffer, offset, take);
        _position += take;
        return take;
    }

    public override void Flush()
    {
    }

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();
}
