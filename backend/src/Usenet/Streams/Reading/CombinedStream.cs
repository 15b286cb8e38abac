using System.Runtime.CompilerServices;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams.Loading;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Memory;
using Sluice.Usenet.Streams.Proof;

namespace Sluice.Usenet.Streams.Reading;

/// <summary>Presents slices of many posted files as one seekable file. Read-ahead crosses slice borders. A seek inside the window keeps the window.</summary>
/// <remarks>
/// For one reader at a time. Loads nothing past the segment of the last requested byte. Bytes may be served before their article is verified, but the last byte
/// of the range waits until all bytes before it are verified, even across seeks.
/// </remarks>
public sealed class CombinedStream : ReadOnlyStream, IPostedHeads, IChargedReader
{
    private readonly StreamResources _shared;
    private readonly OperationLane _lane;
    private readonly ReaderAccount _account;
    private readonly long _end;
    private readonly List<Task> _retiring = [];
    private readonly StreamPlace _place;
    private readonly StreamDebts _debts = new();

    // Written by the reader; also read by other streams that need memory. A stale value is harmless, because a retired reader holds nothing.
    private volatile BufferedSegmentStream? _reader;
    private volatile BufferedSegmentStream? _hinted;
    private CombinedMap _map;
    private long _position;
    private int _repeated;
    private bool _closed;

    internal CombinedStream(CombinedMap map, StreamResources shared, OperationLane lane, object? client, ReaderAccount? account, long position, long end)
    {
        _map = map;
        _shared = shared;
        _lane = lane;
        _account = account ?? new ReaderAccount(ReaderAccount.LaneOf(lane));
        _end = end;
        Position = position;
        _place = shared.Places.Open(lane, client, () => _reader?.GiveBack(), GiveUp);
        shared.CountOpen(1);
    }

    /// <summary>Length of the whole file in bytes, regardless of the requested range.</summary>
    public override long Length => _map.Length;

    public override long Position
    {
        get => _position;
        set
        {
            ArgumentOutOfRangeException.ThrowIfNegative(value);
            _position = value;
        }
    }

    public long AheadEnd => _reader?.AheadEnd ?? _position;

    ReaderAccount? IChargedReader.Account => _account;

    public async Task<PostedHead?> ReadHeadAsync(PostedFile file, int bytes, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(file);
        var head = new HeadWaiter(file, this, bytes);
        _shared.Fetcher.Begin(head, _lane, cancellationToken);
        return await head.TakeAsync(cancellationToken);
    }

    /// <summary>Reads the available bytes, and waits only if there are none. Returns 0 at the end of the requested range.</summary>
    /// <exception cref="ArticleGoneException">The bytes at the position are known to be gone.</exception>
    /// <exception cref="ArticleDoubtedException">The first bytes arrived damaged and may be available later. For later bytes, the stream waits.</exception>
    /// <exception cref="WithdrawnBytesException">Bytes returned by an earlier read were wrong.</exception>
    /// <exception cref="NntpException">No provider could deliver; the bytes may be available later.</exception>
    /// <exception cref="StreamLimitException">The token was canceled while active streams held all places.</exception>
    /// <exception cref="OperationCanceledException">The token was canceled; the stream can still be read.</exception>
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
        ReadAsync(new ReadTarget(buffer), cancellationToken);

    /// <remarks>Throws the same exceptions as a read.</remarks>
    public override ValueTask<int> LendAsync(BlockLoan loan, int most, CancellationToken cancellationToken) =>
        ReadAsync(new ReadTarget(loan, most), cancellationToken);

    public override StreamSnapshot Snapshot()
    {
        var (slots, isCrowded, repeated) = _reader?.Snapshot() ?? ([], false, 0);
        SlotSnapshot[] seen = [.. slots.Select(static slot => slot.Snapshot())];
        var position = Volatile.Read(ref _position);
        var ahead = seen.TakeWhile(static slot => slot.IsReady).Sum(slot => Math.Max(0, slot.Offset + slot.Length - Math.Max(position, slot.Offset)));
        return new StreamSnapshot(seen, ahead, isCrowded || _place.IsWaiting, _place.Share.Streams, Volatile.Read(ref _repeated) + repeated + seen.Count(static slot => slot.IsRepeated));
    }

    public override void HintSeek(long position)
    {
        ObjectDisposedException.ThrowIf(_closed, this);
        if (!_place.IsHeld || position < 0 || position >= _end || _reader?.Holds(position) == true || _hinted?.Holds(position) == true)
            return;
        Retire(_hinted);
        _hinted = StartAt(position);
    }

    protected override async ValueTask CloseAsync()
    {
        _closed = true;
        _debts.Cancel();
        Retire(_hinted);
        Retire(_reader);
        _reader = null;
        try
        {
            await Task.WhenAll(_retiring);
        }
        finally
        {
            // Even if its loads failed, a closed stream must not keep a place in the budget.
            _place.Dispose();
            _shared.CountOpen(-1);
        }
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<int> ReadAsync(ReadTarget target, CancellationToken cancellationToken)
    {
        ObjectDisposedException.ThrowIf(_closed, this);
        if (target.IsEmpty)
            return 0;
        _debts.ThrowIfBad();
        if (_position >= _end)
        {
            await _debts.WaitSettledAsync(cancellationToken);
            return 0;
        }

        await _place.BeginAsync(cancellationToken);
        try
        {
            var taken = await ReadSomeAsync(target, cancellationToken);
            if (_position + taken >= _end)
                await _debts.WaitSettledAsync(cancellationToken);
            if (taken > 0)
                _debts.Begin();
            _position += taken;
            return taken;
        }
        finally
        {
            _place.End();
        }
    }

    /// <summary>Releases everything but the bytes being sent, because another stream has the place now.</summary>
    private void GiveUp()
    {
        _reader?.GiveUp();
        _hinted?.GiveUp();
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<int> ReadSomeAsync(ReadTarget target, CancellationToken cancellationToken)
    {
        while (true)
        {
            if (_reader is null || _reader.Position != _position)
                MoveReader();
            try
            {
                return await _reader!.ReadAsync(target, cancellationToken);
            }
            catch (MapRefutedException refuted) when (FileAtPosition.Correction is not null)
            {
                await CorrectMapAsync(refuted.Claim, cancellationToken);
            }
        }
    }

    private PostedFile FileAtPosition => _map[_map.Locate(_position)].File;

    /// <summary>
    /// Corrects a map that an article contradicts. Verified bytes stay valid, because their articles lay at the offsets that they claimed. The rest is read
    /// through the corrected map, after all bytes served early are verified. If the claim is rejected, the next try treats its article as damaged.
    /// </summary>
    private async Task CorrectMapAsync(Segment claim, CancellationToken cancellationToken)
    {
        var file = FileAtPosition;
        var map = await file.Correction!.CorrectAsync(file.Map, claim, cancellationToken);
        if (!map.Equals(file.Map))
            _map = _map.With(file, map);
        Retire(_hinted);
        Retire(_reader);
        _hinted = _reader = null;
        await _debts.WaitSettledAsync(cancellationToken);
    }

    /// <summary>Moves the reader to the position. Requests the new segments first; the old window closes in the background.</summary>
    private void MoveReader()
    {
        if (_reader?.TryMoveTo(_position) == true)
            return;
        var old = _reader;
        if (_hinted?.TryMoveTo(_position) == true)
            (_reader, _hinted) = (_hinted, null);
        else
            _reader = StartAt(_position);
        Retire(old);
    }

    private BufferedSegmentStream StartAt(long position)
    {
        var reader = new BufferedSegmentStream(_map, _shared, _lane, this, _place.Share, _debts, position, _end);
        reader.Start();
        return reader;
    }

    // Runs in the background, because ending many loads takes a while. Only closing the stream has to wait for them.
    private void Retire(BufferedSegmentStream? reader)
    {
        if (reader is null)
            return;
        var (slots, _, repeated) = reader.Snapshot();
        Volatile.Write(ref _repeated, _repeated + repeated + slots.Count(static slot => slot.IsRepeated));
        _retiring.RemoveAll(static task => task.IsCompletedSuccessfully);
        _retiring.Add(Task.Run(async () => await reader.DisposeAsync()));
    }
}

/// <summary>Services shared by all streams of one engine.</summary>
internal sealed record StreamResources(SegmentFetcher Fetcher, StreamPlaces Places, LineMemory Line, StreamOptions Options, TimeProvider Time)
{
    private int _openStreams;

    public int OpenStreams => Volatile.Read(ref _openStreams);

    /// <summary>Adds 1 for an opened stream, −1 for a closed one.</summary>
    public void CountOpen(int change) => Interlocked.Add(ref _openStreams, change);
}
