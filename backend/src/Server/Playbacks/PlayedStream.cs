using System.Runtime.CompilerServices;
using Sluice.Server.Library;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams;

namespace Sluice.Server.Playbacks;

/// <summary>
/// The stream of one request. It counts with a few additions and a timestamp per read. Time between two reads belongs to the client, so that a slow client is
/// not mistaken for a slow server.
/// </summary>
/// <remarks>One reader at a time. Snapshots may come from any thread.</remarks>
internal sealed class PlayedStream : ReadOnlyStream
{
    private readonly OpenedFile _file;
    private readonly PlayedFile? _played;
    private readonly PlaybackStops _stops;
    private readonly Action _abort;
    private readonly TimeProvider _time;
    private bool _hasRead;

    // Written only by the reader, in clock ticks: the start of the current wait (0 if none) and the total of earlier waits.
    private long _waitingSince;
    private long _waited;

    /// <summary>
    /// Takes ownership of the file. <paramref name="played"/> is null if the table is full. <paramref name="openedAt"/> is the time of the request.
    /// </summary>
    public PlayedStream(OpenedFile file, PlayedFile? played, PlaybackStops stops, Action abort, long offset, long openedAt, TimeProvider time)
    {
        (_file, _played, _stops, _abort, _time, Begin, OpenedAt) = (file, played, stops, abort, time, offset, openedAt);
    }

    public override long Length => _file.Stream.Length;

    public override long Position
    {
        get => _file.Stream.Position;
        set => _file.Stream.Position = value;
    }

    /// <summary>The first offset of the request.</summary>
    public long Begin { get; }

    /// <summary>Timestamp of the request.</summary>
    public long OpenedAt { get; }

    /// <summary>Timestamp at which the current wait of the reader began; null if it does not wait.</summary>
    public long? WaitingSince => Volatile.Read(ref _waitingSince) is var since and not 0 ? since : null;

    /// <summary>Returns the total wait in clock ticks, including the current wait.</summary>
    public long TotalWait(long now)
    {
        var before = Volatile.Read(ref _waited);
        return before + (WaitingSince is { } since ? Math.Max(0, now - since) : 0);
    }

    public void Abort() => _abort();

    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
        Count(_file.Stream.ReadAsync(buffer, cancellationToken));

    public override ValueTask<int> LendAsync(BlockLoan loan, int most, CancellationToken cancellationToken) =>
        Count(_file.Stream.LendAsync(loan, most, cancellationToken));

    public override void HintSeek(long position) => _file.Stream.HintSeek(position);

    public override void WatchProof(Action headArrived) => _file.Stream.WatchProof(headArrived);

    public override StreamSnapshot? Snapshot() => _file.Stream.Snapshot();

    protected override async ValueTask CloseAsync()
    {
        _played?.Leave(this);
        await _file.DisposeAsync();
    }

    private ValueTask<int> Count(ValueTask<int> read)
    {
        if (!read.IsCompletedSuccessfully)
            return WaitAsync(read);
        var count = read.Result;
        ReportRead(count);
        return new ValueTask<int>(count);
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<int> WaitAsync(ValueTask<int> read)
    {
        var (since, wasBegun) = (_time.GetTimestamp(), _hasRead);
        Volatile.Write(ref _waitingSince, since);
        try
        {
            var count = await read;
            ReportRead(count);
            return count;
        }
        catch (Exception failure) when (_played is not null && Playback.Explain(failure) is { } reason)
        {
            if (failure is ArticleGoneException)
            {
                _stops.Add(_played, _file.Stream.Position);
                _played.OnGap();
            }

            if (wasBegun)
                _played.OnReset(reason);
            throw;
        }
        finally
        {
            var now = _time.GetTimestamp();
            Volatile.Write(ref _waitingSince, 0);
            Volatile.Write(ref _waited, _waited + now - since);
            if (wasBegun)
                _played?.OnWait(_time.GetElapsedTime(since, now));
        }
    }

    private void ReportRead(int count)
    {
        var now = _time.GetTimestamp();
        _played?.OnRead(count, _file.Stream.Position, now);
        if (_hasRead || count == 0)
            return;
        _hasRead = true;
        _played?.OnFirstByte(this, _time.GetElapsedTime(OpenedAt, now).TotalMilliseconds);
    }
}
