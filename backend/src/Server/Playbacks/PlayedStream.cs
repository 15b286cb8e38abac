using System.Runtime.CompilerServices;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams;

namespace Sluice.Server.Playbacks;

/// <summary>
/// The bytes of one request of a playback. What it counts costs a read some additions and the time of day; between two reads the client has
/// its bytes, so that the time since the last one is what the client takes.
/// </summary>
/// <remarks>For one reader at a time; those who look on may do so on any thread.</remarks>
internal sealed class PlayedStream : ReadOnlyStream
{
    private readonly ReadOnlyStream _inner;
    private readonly PlayedFile _played;
    private readonly Action _abort;
    private readonly TimeProvider _time;
    private bool _hasRead;

    // Written by the reader alone: since when it waits for bytes, 0 while it does not, and how long it has waited before, in ticks of the clock.
    private long _waitingSince;
    private long _waited;

    /// <summary>Wraps a stream.</summary>
    /// <param name="inner">The stream; owned.</param>
    /// <param name="played">The playback.</param>
    /// <param name="abort">Ends the request.</param>
    /// <param name="offset">Where it begins.</param>
    /// <param name="openedAt">When it was asked for, in ticks of the clock.</param>
    /// <param name="time">Clock.</param>
    public PlayedStream(ReadOnlyStream inner, PlayedFile played, Action abort, long offset, long openedAt, TimeProvider time)
    {
        (_inner, _played, _abort, _time) = (inner, played, abort, time);
        (Begin, OpenedAt) = (offset, openedAt);
    }

    /// <inheritdoc/>
    public override long Length => _inner.Length;

    /// <inheritdoc/>
    public override long Position
    {
        get => _inner.Position;
        set => _inner.Position = value;
    }

    /// <summary>Where the request began.</summary>
    public long Begin { get; }

    /// <summary>When it was asked for, in ticks of the clock.</summary>
    public long OpenedAt { get; }

    /// <summary>Since when the reader waits for bytes, in ticks of the clock; null while it does not.</summary>
    public long? WaitingSince => Volatile.Read(ref _waitingSince) is var since and not 0 ? since : null;

    /// <summary>Ticks of the clock that the reader has waited so far, the present wait included.</summary>
    public long Waited(long now)
    {
        var before = Volatile.Read(ref _waited);
        return before + (WaitingSince is { } since ? Math.Max(0, now - since) : 0);
    }

    /// <summary>Ends the request, whatever it does.</summary>
    public void Abort() => _abort();

    /// <inheritdoc/>
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
        Count(_inner.ReadAsync(buffer, cancellationToken));

    /// <inheritdoc/>
    public override ValueTask<int> LendAsync(BlockLoan loan, int most, CancellationToken cancellationToken) =>
        Count(_inner.LendAsync(loan, most, cancellationToken));

    /// <inheritdoc/>
    public override void HintSeek(long position) => _inner.HintSeek(position);

    /// <inheritdoc/>
    public override void WatchProof(Action headArrived) => _inner.WatchProof(headArrived);

    /// <inheritdoc/>
    public override StreamSnapshot? Look() => _inner.Look();

    /// <inheritdoc/>
    protected override async ValueTask CloseAsync()
    {
        _played.Leave(this);
        await _inner.DisposeAsync();
    }

    private ValueTask<int> Count(ValueTask<int> read)
    {
        if (!read.IsCompletedSuccessfully)
            return WaitAsync(read);
        var count = read.Result;
        Taken(count);
        return new ValueTask<int>(count);
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<int> WaitAsync(ValueTask<int> read)
    {
        var since = _time.GetTimestamp();
        Volatile.Write(ref _waitingSince, since);
        try
        {
            var count = await read;
            Taken(count);
            return count;
        }
        finally
        {
            Volatile.Write(ref _waitingSince, 0);
            Volatile.Write(ref _waited, _waited + _time.GetTimestamp() - since);
        }
    }

    private void Taken(int count)
    {
        var now = _time.GetTimestamp();
        _played.Read(count, _inner.Position, now);
        if (_hasRead || count == 0)
            return;
        _hasRead = true;
        _played.Begun(this, _time.GetElapsedTime(OpenedAt, now).TotalMilliseconds);
    }
}
