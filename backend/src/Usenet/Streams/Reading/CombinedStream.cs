using System.Runtime.CompilerServices;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams.Loading;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Memory;

namespace Sluice.Usenet.Streams.Reading;

/// <summary>
/// One file out of slices of many posted files, seekable. Reading ahead goes on across their borders; a seek inside the
/// window keeps it, any other starts anew where it lands.
/// </summary>
/// <remarks>
/// For one reader at a time. Nothing past the segment of the last byte asked for is ever loaded. Bytes may leave before their
/// article is proved; the last byte of the range never does before all of them are, wherever the stream has been in between.
/// </remarks>
public sealed class CombinedStream : ReadOnlyStream, IPostedHeads
{
    private readonly StreamResources _shared;
    private readonly OperationLane _lane;
    private readonly long _end;
    private readonly List<Task> _retiring = [];
    private readonly StreamPlace _place;
    private readonly StreamDebts _debts = new();

    // Written by the reader; read by other streams as well, which have this one give back. A reader that was just retired has nothing left.
    private volatile BufferedSegmentStream? _reader;
    private volatile BufferedSegmentStream? _hinted;
    private CombinedMap _map;
    private long _position;
    private int _repeated;
    private bool _closed;

    internal CombinedStream(CombinedMap map, StreamResources shared, OperationLane lane, object? client, long position, long end)
    {
        _map = map;
        _shared = shared;
        _lane = lane;
        _end = end;
        Position = position;
        _place = shared.Places.Open(lane, client, () => _reader?.GiveBack(), GiveUp);
        shared.CountOpen(1);
    }

    /// <summary>Bytes of the whole file, whatever range was asked for.</summary>
    public override long Length => _map.Length;

    /// <inheritdoc/>
    public override long Position
    {
        get => _position;
        set
        {
            ArgumentOutOfRangeException.ThrowIfNegative(value);
            _position = value;
        }
    }

    /// <summary>Offset behind the bytes that are held or on their way.</summary>
    internal long AheadEnd => _reader?.AheadEnd ?? _position;

    /// <summary>Whether what one load brings serves others too.</summary>
    internal bool SharesSegments => _shared.Options.SharesSegments;

    /// <inheritdoc/>
    public async Task<PostedHead?> ReadHeadAsync(PostedFile file, int bytes, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(file);
        var head = new HeadWaiter(file, this, bytes);
        _shared.Fetcher.Begin(head, _lane, cancellationToken);
        return await head.TakeAsync(cancellationToken);
    }

    /// <summary>Reads the bytes that are there, and waits only if there are none; 0 at the end of the requested range.</summary>
    /// <exception cref="ArticleGoneException">The bytes at the position are proved to be gone.</exception>
    /// <exception cref="ArticleDoubtedException">The first bytes came damaged a moment ago; they may be there later. Later ones are waited for.</exception>
    /// <exception cref="WithdrawnBytesException">Bytes of an earlier read were wrong.</exception>
    /// <exception cref="NntpException">No provider could deliver; the bytes may be there later.</exception>
    /// <exception cref="StreamLimitException">The token was canceled while all places were taken by streams that read.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled; the stream can be read on.</exception>
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
        ReadAsync(new ReadTarget(buffer), cancellationToken);

    /// <inheritdoc/>
    /// <remarks>Throws what a read does.</remarks>
    public override ValueTask<int> LendAsync(BlockLoan loan, int most, CancellationToken cancellationToken) =>
        ReadAsync(new ReadTarget(loan, most), cancellationToken);

    /// <inheritdoc/>
    public override StreamSnapshot Look()
    {
        var (slots, isCrowded, repeated) = _reader?.Look() ?? ([], false, 0);
        SlotSnapshot[] seen = [.. slots.Select(static slot => slot.Look())];
        var position = Volatile.Read(ref _position);
        var ahead = seen.TakeWhile(static slot => slot.IsReady).Sum(slot => Math.Max(0, slot.Offset + slot.Length - Math.Max(position, slot.Offset)));
        return new StreamSnapshot(seen, ahead, isCrowded || _place.IsWaiting, _place.Share.Streams, Volatile.Read(ref _repeated) + repeated + seen.Count(static slot => slot.IsRepeated));
    }

    /// <inheritdoc/>
    public override void HintSeek(long position)
    {
        ObjectDisposedException.ThrowIf(_closed, this);
        if (!_place.IsHeld || position < 0 || position >= _end || _reader?.Holds(position) == true || _hinted?.Holds(position) == true)
            return;
        Retire(_hinted);
        _hinted = StartAt(position);
    }

    /// <inheritdoc/>
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
            // However its loads ended, a stream that is closed has no place among those that share the budget.
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
            await _debts.PaidAsync(cancellationToken);
            return 0;
        }

        await _place.BeginAsync(cancellationToken);
        try
        {
            var taken = await ReadSomeAsync(target, cancellationToken);
            if (_position + taken >= _end)
                await _debts.PaidAsync(cancellationToken);
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

    /// <summary>Another stream has the place now: nothing stays in memory but the bytes that are being sent.</summary>
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
    /// An article contradicts the map. The bytes that were delivered and proved stand, since each of their articles lay where it said
    /// itself; the rest is read through the map that holds, once nothing is owed. Where the claim is not believed, the next try takes
    /// its article for damaged.
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
        await _debts.PaidAsync(cancellationToken);
    }

    /// <summary>Goes to the position. The segments there are asked for first; the old window ends behind the reader's back.</summary>
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

    // To give many loads up takes a while, and only the caller that closes the stream has to wait for that.
    private void Retire(BufferedSegmentStream? reader)
    {
        if (reader is null)
            return;
        var (slots, _, repeated) = reader.Look();
        Volatile.Write(ref _repeated, _repeated + repeated + slots.Count(static slot => slot.IsRepeated));
        _retiring.RemoveAll(static task => task.IsCompletedSuccessfully);
        _retiring.Add(Task.Run(async () => await reader.DisposeAsync()));
    }
}
