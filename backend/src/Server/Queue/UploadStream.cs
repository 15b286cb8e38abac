using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue;

/// <summary>The body of an upload: its first bytes can be looked at, what passes is counted, and past the limit it ends in an exception.</summary>
/// <param name="body">Stays open.</param>
/// <param name="limit">Most bytes.</param>
internal sealed class UploadStream(Stream body, long limit) : ForwardStream
{
    private ReadOnlyMemory<byte> _start;

    /// <summary>Bytes handed out so far.</summary>
    public long Passed { get; private set; }

    /// <summary>Looks at the first bytes, which stay to be read. Once, before anything is read.</summary>
    public async Task<ReadOnlyMemory<byte>> PeekAsync(int length, CancellationToken cancellationToken)
    {
        var start = new byte[length];
        var read = 0;
        while (read < length && await ReadBodyAsync(start.AsMemory(read), cancellationToken) is var more and > 0)
            read += more;
        return _start = start.AsMemory(0, read);
    }

    /// <inheritdoc/>
    /// <exception cref="UploadTooLargeException">The body is longer than the limit.</exception>
    /// <exception cref="UploadBrokenException">The body breaks off.</exception>
    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        int read;
        if (_start.IsEmpty)
        {
            read = await ReadBodyAsync(buffer, cancellationToken);
        }
        else
        {
            read = Math.Min(buffer.Length, _start.Length);
            _start[..read].CopyTo(buffer);
            _start = _start[read..];
        }

        Passed += read;
        return Passed > limit ? throw new UploadTooLargeException() : read;
    }

    private async ValueTask<int> ReadBodyAsync(Memory<byte> buffer, CancellationToken cancellationToken)
    {
        try
        {
            return await body.ReadAsync(buffer, cancellationToken);
        }
        catch (IOException e) when (e.GetType() == typeof(IOException))
        {
            // So a multipart says that its part has no end; what the connection says has types of its own.
            throw new UploadBrokenException(e);
        }
    }
}

/// <summary>The body of an upload is longer than one may be (S26).</summary>
internal sealed class UploadTooLargeException() : IOException("The upload is too large.");

/// <summary>The body of an upload ends before its end.</summary>
internal sealed class UploadBrokenException(Exception inner) : IOException("The upload breaks off.", inner);
