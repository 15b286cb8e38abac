using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue.Intake;

/// <summary>The body of an upload, whose first bytes can be looked at.</summary>
/// <param name="body">Stays open.</param>
internal sealed class UploadStream(Stream body) : ForwardStream
{
    private ReadOnlyMemory<byte> _start;

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
    /// <exception cref="UploadBrokenException">The body breaks off.</exception>
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        if (_start.IsEmpty)
            return ReadBodyAsync(buffer, cancellationToken);

        var read = Math.Min(buffer.Length, _start.Length);
        _start[..read].CopyTo(buffer);
        _start = _start[read..];
        return ValueTask.FromResult(read);
    }

    private async ValueTask<int> ReadBodyAsync(Memory<byte> buffer, CancellationToken cancellationToken)
    {
        try
        {
            return await body.ReadAsync(buffer, cancellationToken);
        }
        catch (IOException e) when (e.GetType() == typeof(IOException))
        {
            // The reader of a multipart throws a plain IOException when a part has no end; faults of the connection have derived types.
            throw new UploadBrokenException(e);
        }
    }
}

/// <summary>The body of an upload ends before its end.</summary>
internal sealed class UploadBrokenException(Exception inner) : IOException("The upload breaks off.", inner);
