using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue.Intake;

/// <summary>An upload's body, whose start can be inspected before it is read. Disposal leaves the body open.</summary>
internal sealed class UploadStream(Stream body) : ForwardStream
{
    private ReadOnlyMemory<byte> _start;

    /// <summary>Returns the first bytes without consuming them. Call it once, before any read.</summary>
    public async Task<ReadOnlyMemory<byte>> PeekAsync(int length, CancellationToken cancellationToken)
    {
        var start = new byte[length];
        var read = 0;
        while (read < length && await ReadBodyAsync(start.AsMemory(read), cancellationToken) is var more and > 0)
            read += more;
        return _start = start.AsMemory(0, read);
    }

    /// <exception cref="UploadBrokenException">The body ends early.</exception>
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
            // ASP.NET Core's multipart reader throws a plain IOException for an unterminated part. Connection errors have derived types.
            throw new UploadBrokenException(e);
        }
    }
}

internal sealed class UploadBrokenException(Exception inner) : IOException("The upload breaks off.", inner);
