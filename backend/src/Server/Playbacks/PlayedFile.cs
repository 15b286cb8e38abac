using System.Security.Cryptography;
using Sluice.Server.Library;
using Sluice.Usenet.Media.Titles;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams;

namespace Sluice.Server.Playbacks;

/// <summary>A seek of a playback, in wall-clock time. <c>FirstByteMs</c> is the time to its first byte; null until then.</summary>
internal sealed record PlaybackSeek(DateTimeOffset At, long Offset, double? FirstByteMs);

/// <summary>A snapshot of a playback.</summary>
/// <param name="LastReadAt">Wall-clock time of the last read.</param>
/// <param name="Position">Current offset in bytes.</param>
/// <param name="Rates">Bytes in each of the last seconds, oldest first; at most 60.</param>
/// <param name="FirstByteMs">Time from the first request to the first byte; null until then.</param>
/// <param name="LastSeeks">The last seeks, newest first; at most 50.</param>
/// <param name="Repeated">Articles fetched more than once, excluding open requests.</param>
/// <param name="Waiting">How long the current read has waited for bytes; zero if none waits.</param>
/// <param name="WaitedShare">Fraction of the last second in which reads waited, 0 to 1.</param>
/// <param name="ClientIdle">How long the client of an open request has requested nothing; zero while a read waits or no request is open.</param>
/// <param name="Stream">Engine state of the request that waits longest, or else of the newest; null if none is open.</param>
internal sealed record PlaybackSnapshot(
    PlayedFile Played, int Open, DateTimeOffset LastReadAt, long Position, long BytesSent, IReadOnlyList<long> Rates, double? FirstByteMs, int Seeks,
    IReadOnlyList<PlaybackSeek> LastSeeks, int Requests, int Repeated, TimeSpan Waiting, double WaitedShare, TimeSpan ClientIdle, StreamSnapshot? Stream)
{
    // After such a pause the viewer has probably paused the player. The read-ahead is released at the same time.
    private static readonly TimeSpan PausedAfter = TimeSpan.FromSeconds(10);

    public PlaybackState State => Open == 0 ? PlaybackState.Ended : ClientIdle >= PausedAfter ? PlaybackState.Paused : PlaybackState.Playing;
}

internal enum PlaybackState
{
    /// <summary>A client is reading.</summary>
    Playing,

    /// <summary>A request is open, but the client currently requests nothing.</summary>
    Paused,

    /// <summary>No request is open. The playback stays in the list for another minute.</summary>
    Ended,
}

/// <summary>A playback: one client reading one file over any number of requests.</summary>
/// <remarks>
/// Thread-safe. Reads update only counters. <c>_gate</c> guards everything else: open requests, recent end offsets, seeks and rates. Requests are aborted under
/// it, which is safe because an abort never ends a stream before it returns.
/// </remarks>
internal sealed class PlayedFile
{
    /// <summary>Bytes read after which a playback no longer counts as part of a scan.</summary>
    public const long MinPlaybackBytes = 4 << 20;

    /// <summary>Open time after which a playback no longer counts as part of a scan.</summary>
    public static readonly TimeSpan MinPlaybackTime = TimeSpan.FromSeconds(5);

    // Shorter waits are hidden by the buffer of any player.
    private static readonly TimeSpan StallTime = TimeSpan.FromSeconds(1);

    private const int Seconds = 60;
    private const int MostSeeks = 50;
    private const int MostEnds = 8;

    // A client that reconnects may repeat or skip this many bytes. Such a request does not count as a seek.
    private const long MaxOverlap = 8 << 20;
    private const long MaxGap = 256 << 10;

    private readonly TimeProvider _time;
    private readonly PlaybackTotals _totals;

    // Written by readers, read by any thread.
    private MediaFacts? _media;
    private int _hasHeader;
    private long _bytes;
    private long _position;
    private long _lastReadAt;

    private readonly Lock _gate = new();
    private readonly List<ReaderAccount> _accounts;
    private readonly List<PlayedStream> _open = [];
    private readonly Queue<long> _ends = new();
    private readonly List<(DateTimeOffset At, long Offset, PlayedStream? Stream, double? Ms)> _seeks = [];
    private readonly Queue<long> _rates = new();
    private double? _firstByteMs;
    private int _seekCount;
    private int _requests;
    private int _repeated;
    private ReceiptWaits _waits;
    private int _gaps;
    private bool _isPlayback;
    private long _openSince;
    private long _openFor;
    private long _waitedBefore;
    private long _tickedAt;
    private long _tickedBytes;
    private long _tickedWaits;
    private double _waitedShare;

    public PlayedFile(LibraryFile file, PlaybackRequest request, ReaderAccount account, PlaybackTotals totals, TimeProvider time)
    {
        (File, Client, Login, Account, _totals, _time) = (file, request.Client, request.Login, account, totals, time);
        _accounts = [account];
        Id = Convert.ToHexStringLower(RandomNumberGenerator.GetBytes(6));
        StartedAt = time.WallTime();
        Title = ReleaseFacts.TitleOf(file);
        _lastReadAt = _tickedAt = time.GetTimestamp();
    }

    /// <summary>The playback id, stable across requests.</summary>
    public string Id { get; }

    public LibraryFile File { get; }

    /// <summary>The title according to the file's names; null if they reveal none.</summary>
    public ReleaseTitle? Title { get; }

    /// <summary>Media facts of the file, for its running time; null until its header is read.</summary>
    public MediaFacts? Media
    {
        get => Volatile.Read(ref _media);
        set => Volatile.Write(ref _media, value);
    }

    public PlaybackClient Client { get; }

    /// <summary>The name with which the first request logged in; empty if unknown.</summary>
    public string Login { get; }

    /// <summary>Pays for the next request.</summary>
    public ReaderAccount Account { get; }

    /// <summary>Wall-clock time of the first request.</summary>
    public DateTimeOffset StartedAt { get; }

    /// <summary>Bytes sent to the client.</summary>
    public long Bytes => Volatile.Read(ref _bytes);

    /// <summary>Timestamp of the last read or opening.</summary>
    public long LastReadAt => Volatile.Read(ref _lastReadAt);

    /// <summary>Whether the client read enough for a viewer to see something.</summary>
    public bool WasPlayed => IsPlayback || Bytes >= Math.Min(MinPlaybackBytes, File.Length);

    public bool IsOpen
    {
        get
        {
            lock (_gate)
                return _open.Count > 0;
        }
    }

    /// <summary>Whether this is a playback rather than part of a scan.</summary>
    public bool IsPlayback
    {
        get
        {
            lock (_gate)
            {
                if (!_isPlayback && (Bytes >= MinPlaybackBytes || _time.GetElapsedTime(0, OpenFor) >= MinPlaybackTime))
                {
                    _isPlayback = true;
                    Decide(TrafficLane.Playback);
                }

                return _isPlayback;
            }
        }
    }

    // Requires _gate. In clock ticks.
    private long OpenFor => _openFor + (_open.Count > 0 ? _time.GetTimestamp() - _openSince : 0);

    /// <summary>Marks the playback as used before its request opens, so that it is not dropped in between.</summary>
    public void Touch() => Volatile.Write(ref _lastReadAt, _time.GetTimestamp());

    /// <summary>Takes over the account of a request that was opened before this playback was known, because two requests came at once.</summary>
    public void Adopt(ReaderAccount account)
    {
        lock (_gate)
        {
            if (_accounts.Contains(account))
                return;
            _accounts.Add(account);
            if (_isPlayback)
                account.Decide(TrafficLane.Playback);
        }
    }

    /// <summary>Ends the playback. Its bytes count for a scan if it never became more.</summary>
    public void End()
    {
        if (IsPlayback)
            return;
        lock (_gate)
            Decide(TrafficLane.Scans);
    }

    /// <summary>Returns true for the first caller only, because the header is read at most once.</summary>
    public bool TryBeginHeader() => Interlocked.Exchange(ref _hasHeader, 1) == 0;

    /// <summary>Adds a request. It counts as a seek unless it continues near the position of another request.</summary>
    public void Enter(PlayedStream stream)
    {
        Touch();
        lock (_gate)
        {
            var isSeek = _requests > 0 && !_ends.Concat(_open.Select(static other => other.Position)).Any(end => stream.Begin > end - MaxOverlap && stream.Begin <= end + MaxGap);
            if (_open.Count == 0)
                _openSince = _time.GetTimestamp();
            _open.Add(stream);
            _requests++;
            if (!isSeek)
                return;
            _seekCount++;
            if (_seeks.Count == MostSeeks)
                _seeks.RemoveAt(0);
            _seeks.Add((_time.WallTime(), stream.Begin, stream, null));
        }
    }

    /// <summary>Removes an ended request.</summary>
    public void Leave(PlayedStream stream)
    {
        var repeated = stream.Snapshot()?.Repeated ?? 0;
        var now = _time.GetTimestamp();
        lock (_gate)
        {
            if (!_open.Remove(stream))
                return;
            if (_open.Count == 0)
                _openFor += now - _openSince;
            _repeated += repeated;
            _waitedBefore += stream.TotalWait(now);
            if (_ends.Count == MostEnds)
                _ends.Dequeue();
            _ends.Enqueue(stream.Position);
            ForgetStream(stream, ms: null);
        }
    }

    /// <summary>Records a read of a request.</summary>
    public void OnRead(int count, long position, long now)
    {
        Interlocked.Add(ref _bytes, count);
        Volatile.Write(ref _position, position);
        Volatile.Write(ref _lastReadAt, now);
        _totals.AddSent(count);
    }

    /// <summary>Records the first byte of a request. Must be called once per request.</summary>
    public void OnFirstByte(PlayedStream stream, double ms)
    {
        _totals.AddFirstByte(ms);
        lock (_gate)
        {
            _firstByteMs ??= ms;
            ForgetStream(stream, ms);
        }
    }

    /// <summary>Records that a read after the first byte of a request took this long.</summary>
    public void OnWait(TimeSpan waited)
    {
        if (waited < StallTime)
            return;
        _totals.AddStall();
        var ms = (long)waited.TotalMilliseconds;
        lock (_gate)
            _waits = _waits.With(new ReceiptWaits(1, ms, ms));
    }

    /// <summary>Records that a request ended because articles are missing at every provider.</summary>
    public void OnGap() => Interlocked.Increment(ref _gaps);

    /// <summary>Records that a request was cut off after its first byte.</summary>
    public void OnReset(ReadFailure reason) => _totals.AddReset(reason);

    /// <summary>Updates the rates. Called once a second.</summary>
    public void Tick()
    {
        var now = _time.GetTimestamp();
        lock (_gate)
        {
            var waits = _waitedBefore + _open.Sum(stream => stream.TotalWait(now));
            _waitedShare = now > _tickedAt ? Math.Clamp((double)(waits - _tickedWaits) / (now - _tickedAt), 0, 1) : 0;
            if (_rates.Count == Seconds)
                _rates.Dequeue();
            _rates.Enqueue(Bytes - _tickedBytes);
            (_tickedAt, _tickedBytes, _tickedWaits) = (now, Bytes, waits);
        }
    }

    /// <summary>Aborts the open requests under the lock, because the connection of an ended request may already serve another.</summary>
    public void Stop()
    {
        lock (_gate)
        {
            foreach (var stream in _open.ToArray())
                stream.Abort();
        }
    }

    /// <summary>Ends the accounts of the playback and returns its final receipt.</summary>
    public Receipt Close()
    {
        ReaderAccount[] accounts;
        lock (_gate)
            accounts = [.. _accounts];
        foreach (var account in accounts)
            account.Close();
        return ToReceipt();
    }

    /// <summary>Returns what the playback has cost so far.</summary>
    public Receipt ToReceipt()
    {
        lock (_gate)
        {
            return new Receipt
            {
                Id = Id,
                StartedAt = StartedAt,
                EndedAt = _time.WallTimeOf(LastReadAt),
                File = File.Id,
                Path = File.TreePath,
                Login = Login,
                Client = Client.Address,
                Player = Client.Player,
                Sent = Bytes,
                Bytes = _accounts.Select(static account => account.Bytes).Aggregate(static (sum, bytes) => sum + bytes),
                Waits = _waits,
                Gaps = Volatile.Read(ref _gaps),
                Seeks = _seekCount,
                FirstByteMs = _firstByteMs,
            };
        }
    }

    public PlaybackSnapshot Snapshot()
    {
        PlayedStream[] open;
        PlaybackSnapshot seen;
        var now = _time.GetTimestamp();
        var lastRead = LastReadAt;
        lock (_gate)
        {
            open = [.. _open];
            seen = new PlaybackSnapshot(
                this,
                open.Length,
                _time.WallTimeOf(lastRead),
                Volatile.Read(ref _position),
                Bytes,
                [.. _rates],
                _firstByteMs,
                _seekCount,
                [.. Enumerable.Reverse(_seeks).Select(static seek => new PlaybackSeek(seek.At, seek.Offset, seek.Ms))],
                _requests,
                _repeated,
                TimeSpan.Zero,
                open.Length == 0 ? 0 : _waitedShare,
                TimeSpan.Zero,
                null);
        }

        // Report the request that waits longest, or else the one opened last.
        var first = open.OrderBy(static stream => stream.WaitingSince ?? long.MaxValue).ThenByDescending(static stream => stream.OpenedAt).FirstOrDefault();
        if (first is null)
            return seen;
        var waiting = first.WaitingSince is { } since ? _time.GetElapsedTime(since, now) : TimeSpan.Zero;
        return seen with
        {
            Waiting = waiting,
            ClientIdle = first.WaitingSince is null ? _time.GetElapsedTime(lastRead, now) : TimeSpan.Zero,
            Stream = first.Snapshot(),
        };
    }

    /// <summary>Requires _gate.</summary>
    private void Decide(TrafficLane lane)
    {
        foreach (var account in _accounts)
            account.Decide(lane);
    }

    /// <summary>Completes the seek of a request with its time to the first byte, or null. Requires _gate.</summary>
    private void ForgetStream(PlayedStream stream, double? ms)
    {
        var seek = _seeks.FindIndex(each => each.Stream == stream);
        if (seek >= 0)
            _seeks[seek] = _seeks[seek] with { Stream = null, Ms = ms };
    }
}

/// <summary>Totals of all playbacks since startup.</summary>
/// <remarks>Thread-safe. Uses atomic additions, and a short lock for the first byte of a request.</remarks>
internal sealed class PlaybackTotals(TimeProvider time)
{
    private const int MostTimes = 1024;
    private static readonly TimeSpan RecentWindow = TimeSpan.FromMinutes(10);

    // Guards _firstBytes. Never held across a call.
    private readonly Lock _gate = new();
    private readonly Queue<(long At, double Ms)> _firstBytes = new();
    private readonly DurationHistogram _firstByteTimes = new(0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 15);
    private readonly long[] _resets = new long[Enum.GetValues<ReadFailure>().Length];
    private long _sent;
    private long _stalls;

    public long BytesSent => Volatile.Read(ref _sent);

    /// <summary>Median and 95th percentile of the time to first byte in ms, over ten minutes and at most 1,024 requests; null without requests.</summary>
    public (double P50, double P95)? FirstBytes
    {
        get
        {
            double[] times;
            lock (_gate)
                times = [.. _firstBytes.Where(first => time.GetElapsedTime(first.At) < RecentWindow).Select(static first => first.Ms)];
            if (times.Length == 0)
                return null;
            Array.Sort(times);
            return (At(0.5), At(0.95));

            double At(double part) => times[(int)Math.Ceiling(part * times.Length) - 1];
        }
    }

    /// <summary>Times to the first byte of all requests.</summary>
    public HistogramSnapshot FirstByteTimes => _firstByteTimes.Snapshot();

    /// <summary>Reads for which a client waited noticeably after the first byte of its request.</summary>
    public long Stalls => Volatile.Read(ref _stalls);

    /// <summary>Returns the number of requests cut off after their first byte for a reason.</summary>
    public long ResetsBy(ReadFailure reason) => Volatile.Read(ref _resets[(int)reason]);

    public void AddStall() => Interlocked.Increment(ref _stalls);

    public void AddReset(ReadFailure reason) => Interlocked.Increment(ref _resets[(int)reason]);

    public void AddSent(int count) => Interlocked.Add(ref _sent, count);

    /// <summary>Records the time to first byte of a request.</summary>
    public void AddFirstByte(double ms)
    {
        _firstByteTimes.Record(TimeSpan.FromMilliseconds(ms));
        lock (_gate)
        {
            if (_firstBytes.Count == MostTimes)
                _firstBytes.Dequeue();
            _firstBytes.Enqueue((time.GetTimestamp(), ms));
        }
    }
}
