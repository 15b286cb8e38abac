using System.Globalization;
using System.Text;

namespace Sluice.Usenet.Tests.Nzb;

/// <summary>An NZB of any size that is written while it is read.</summary>
internal sealed class GeneratedNzb(int files, int segments) : Stream
{
    private byte[] _text = Encoding.ASCII.GetBytes("<?xml version=\"1.0\" encoding=\"utf-8\"?><nzb xmlns=\"http://www.newzbin.com/DTD/2003/nzb\">");
    private int _position;
    private int _next;

    /// <summary>Bytes written so far.</summary>
    public long Written { get; private set; }

    public override bool CanRead => true;

    public override bool CanSeek => false;

    public override bool CanWrite => false;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => Written;
        set => throw new NotSupportedException();
    }

    public override int Read(byte[] buffer, int offset, int count)
    {
        if (_position == _text.Length)
        {
            if (_next > files)
                return 0;
            _text = Encoding.ASCII.GetBytes(_next++ == files ? "</nzb>" : Next());
            _position = 0;
        }

        count = Math.Min(count, _text.Length - _position);
        _text.AsSpan(_position, count).CopyTo(buffer.AsSpan(offset));
        _position += count;
        Written += count;
        return count;
    }

    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        var bytes = new byte[buffer.Length];
        var read = Read(bytes, 0, bytes.Length);
        bytes.AsMemory(0, read).CopyTo(buffer);
        return new ValueTask<int>(read);
    }

    public override void Flush() => throw new NotSupportedException();

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    private string Next()
    {
        var text = new StringBuilder();
        text.Append(CultureInfo.InvariantCulture, $"<file poster=\"p\" date=\"1795288940\" subject=\"&quot;f{_next}.mkv&quot; yEnc (1/{segments})\"><groups><group>a.b.t</group></groups><segments>\n");
        for (var i = 1; i <= segments; i++)
            text.Append(CultureInfo.InvariantCulture, $"<segment bytes=\"740000\" number=\"{i}\">QwErTyUiOpAsDfGhJkL{_next}x{i}-1795288940143@nyuu</segment>\n");
        return text.Append("</segments></file>\n").ToString();
    }
}
