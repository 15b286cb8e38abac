using Sluice.Usenet.Primitives;

namespace Sluice.Testing.WebDav;

/// <summary>A forward stream whose reads are scripted: each step returns bytes, waits or throws. After the last step the stream ends.</summary>
internal sealed class ScriptedStream(params Func<CancellationToken, ValueTask<byte[]>>[] steps) : ForwardStream
{
    private readonly TaskCompletionSource _disposed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private ReadOnlyMemory<byte> _rest;
    private int _step;

    /// <summary>Completes when the stream is disposed.</summary>
    public Task Disposed => _disposed.Task;

    /// <summary>Returns a step that returns bytes.</summary>
    public static Func<CancellationToken, ValueTask<byte[]>> Give(byte[] bytes) => _ => ValueTask.FromResult(bytes);

    /// <summary>Returns a step that throws.</summary>
    public static Func<CancellationToken, ValueTask<byte[]>> Throw(Exception failure) => _ => ValueTask.FromException<byte[]>(failure);

    /// <summary>Returns a step that signals its start and then waits until the read is canceled.</summary>
    public static Func<CancellationToken, ValueTask<byte[]>> Hang(TaskCompletionSource began) => async cancellationToken =>
    {
        var never = new TaskCompletionSource<byte[]>();
        await using var registration = cancellationToken.Register(() => never.TrySetCanceled(cancellationToken));
        began.TrySetResult();
        return await never.Task;
    };

    /// <inheritdoc/>
    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        if (_rest.IsEmpty && _step < steps.Length)
            _rest = await steps[_step++](cancellationToken);
        var length = Math.Min(buffer.Length, _rest.Length);
        _rest[..length].CopyTo(buffer);
        _rest = _rest[length..];
        return length;
    }

    /// <inheritdoc/>
    protected override void Dispose(bool disposing)
    {
        _disposed.TrySetResult();
        base.Dispose(disposing);
    }
}
