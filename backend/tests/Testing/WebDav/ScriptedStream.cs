namespace Sluice.Testing.WebDav;

/// <summary>A forward stream whose reads a test writes down: each step gives bytes, waits, or throws. After the last it ends.</summary>
internal sealed class ScriptedStream(params Func<CancellationToken, ValueTask<byte[]>>[] steps) : Stream
{
    private readonly TaskCompletionSource _disposed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private ReadOnlyMemory<byte> _rest;
    private int _step;

    /// <summary>Completes when the stream is disposed.</summary>
    public Task Disposed => _disposed.Task;

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

    /// <summary>A step that gives bytes.</summary>
    public static Func<CancellationToken, ValueTask<byte[]>> Give(byte[] bytes) => _ => ValueTask.FromResult(bytes);

    /// <summary>A step that throws.</summary>
    public static Func<CancellationToken, ValueTask<byte[]>> Throw(Exception failure) => _ => ValueTask.FromException<byte[]>(failure);

    /// <summary>A step that waits for the end of its read, and says when it began to.</summary>
    public static Func<CancellationToken, ValueTask<byte[]>> Hang(TaskCompletionSource began) => async ct =>
    {
        var never = new TaskCompletionSource<byte[]>();
        await using CancellationTokenRegistration registration = ct.Register(() => never.TrySetCanceled(ct));
        began.TrySetResult();
        return await never.Task;
    };

    /// <inheritdoc/>
    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        if (_rest.IsEmpty && _step < steps.Length)
            _rest = await steps[_step++](cancellationToken);
        int length = Math.Min(buffer.Length, _rest.Length);
        _rest[..length].CopyTo(buffer);
        _rest = _rest[length..];
        return length;
    }

    /// <inheritdoc/>
    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    /// <inheritdoc/>
    public override void Flush() => throw new NotSupportedException();

    /// <inheritdoc/>
    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    /// <inheritdoc/>
    public override void SetLength(long value) => throw new NotSupportedException();

    /// <inheritdoc/>
    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    /// <inheritdoc/>
    protected override void Dispose(bool disposing)
    {
        _disposed.TrySetResult();
        base.Dispose(disposing);
    }
}
