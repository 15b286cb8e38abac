using System.Threading.Tasks.Sources;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>
/// The client's end of a connection without a socket. A waiting read completes synchronously inside the call that brings its bytes, so
/// that code run by <see cref="Turns"/> stays there.
/// </summary>
internal abstract class ModelStream : Stream, IValueTaskSource<int>
{
    private ManualResetValueTaskSourceCore<int> _read;
    private CancellationTokenRegistration _registration;
    private Memory<byte> _buffer;
    private bool _isReading;

    public override bool CanRead => true;

    public override bool CanWrite => true;

    public override bool CanSeek => false;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        if (cancellationToken.IsCancellationRequested)
            return ValueTask.FromCanceled<int>(cancellationToken);
        if (Take(buffer) is { } count)
            return ValueTask.FromResult(count);
        _read.Reset();
        (_isReading, _buffer) = (true, buffer);
        _registration = cancellationToken.UnsafeRegister(static (state, token) => ((ModelStream)state!).CancelRead(token), this);
        return new ValueTask<int>(this, _read.Version);
    }

    public override void Flush()
    {
    }

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    int IValueTaskSource<int>.GetResult(short token) => _read.GetResult(token);

    ValueTaskSourceStatus IValueTaskSource<int>.GetStatus(short token) => _read.GetStatus(token);

    void IValueTaskSource<int>.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _read.OnCompleted(continuation, state, token, flags);

    /// <summary>Takes the bytes that have arrived.</summary>
    /// <returns>0 at the end, as for every stream; null if no bytes have arrived.</returns>
    /// <exception cref="IOException">The connection was lost.</exception>
    protected abstract int? Take(Memory<byte> buffer);

    /// <summary>Completes a waiting read, because bytes or the end have arrived.</summary>
    protected void EndRead()
    {
        if (!_isReading)
            return;
        try
        {
            if (Take(_buffer) is not { } count)
                return;
            StopReading();
            _read.SetResult(count);
        }
        catch (IOException lost)
        {
            StopReading();
            _read.SetException(lost);
        }
    }

    private void StopReading()
    {
        _isReading = false;
        _registration.Dispose();
    }

    private void CancelRead(CancellationToken cancelled)
    {
        if (!_isReading)
            return;
        _isReading = false;
        _read.SetException(new OperationCanceledException(cancelled));
    }
}
