using System.Security.Cryptography;
using Sluice.Server.Library;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams;

namespace Sluice.Server.Playbacks;

/// <summary>A seek of a playback.</summary>
/// <param name="At">When, by the wall clock.</param>
/// <param name="Offset">Where to.</param>
/// <param name="FirstByteMs">To its first byte; null before that.</param>
internal sealed record PlaybackSeek(DateTimeOffset At, long Offset, double? FirstByteMs);

/// <summary>A playback at one moment.</summary>
/// <param name="Played">The playback.</param>
/// <param name="Open">Its open requests.</param>
/// <param name="LastReadAt">Its last read, by the wall clock.</param>
/// <param name="Position">Where it reads.</param>
/// <param name="BytesSent">Bytes that it has got.</param>
/// <param name="Rates">Bytes in each of the last seconds, the oldest first; 60 at most.</param>
/// <param name="FirstByteMs">From its first request to its first byte; null before that.</param>
/// <param name="Seeks">How often it went elsewhere.</param>
/// <param name="LastSeeks">The last of those, the newest first; 50 at most.</param>
/// <param name="Requests">Its requests so far.</param>
/// <param name="Repeated">Articles that were asked for more than once, those of open requests not included.</param>
/// <param name="Waiting">For how long the present read has waited for bytes; zero while none does.</param>
/// <param name="WaitedShare">The part of the last second in which reads have waited, 0 to 1.</param>
/// <param name="ClientIdle">For how long the client has asked for nothing while a request is open; zero while it waits or none is.</param>
/// <param name="Stream">How the engine gets on with the request that tells most; null where none is open.</param>
internal sealed record PlaybackSnapshot(
    PlayedFile Played, int Open, DateTimeOffset LastReadAt, long Position, long BytesSent, IReadOnlyList<long> Rates, double? FirstByteMs, int Seeks,
    IReadOnlyList<PlaybackSeek> LastSeeks, int Requests, int Repeated, TimeSpan Waiting, double WaitedShare, TimeSpan ClientIdle, StreamSnapshot? Stream);

/// <summary>A playback: one file that one program at one address reads, over however many requests.</summary>
/// <remarks>
/// Thread-safe. Reads touch counters alone. <c>_gate</c> guards the rest: the requests that are open, where the last ones ended, seeks and rates;
/// nothing is called under it.
/// </remarks>
internal sealed class PlayedFile
{
    /// <summary>Once it has got so many bytes it is a playback of its own, and no part of a scan.</summary>
    public const long TellingBytes = 4 << 20;

    /// <summary>The same once requests have been open for so long.</summary>
    public static readonly TimeSpan TellingTime = TimeSpan.FromSeconds(5);

    private const int Seconds = 60;
    private const int MostSeeks = 50;
    private const int MostEnds = 8;

    // What a client has in its buffers when it comes again is asked for once more, and it may leave a little out.
    private const long AskedTwice = 8 << 20;
    private const long LeftOut = 256 << 10;

    private readonly TimeProvider _time;
    private readonly PlaybackTotals _totals;

    // Written by the readers, read by all.
    private long _bytes;
    private long _position;
    private long _lastReadAt;

    private readonly Lock _gate = new();
    private readonly List<PlayedStream> _open = [];
    private readonly Queue<long> _ends = new();
    private readonly List<(DateTimeOffset At, long Offset, PlayedStream? Stream, double? Ms)> _seeks = [];
    private readonly Queue<long> _rates = new();
    private double? _firstByteMs;
    private int _seekCount;
    private int _requests;
    private int _repeated;
    private bool _isTelling;
    private long _openSince;
    private long _openFor;
    private long _waitedBefore;
    private long _tickedAt;
    private long _tickedBytes;
    private long _tickedWaits;
    private double _waitedShare;

    /// <summary>A playback that begins now.</summary>
    public PlayedFile(LibraryFile file, PlaybackClient client, PlaybackTotals totals, TimeProvider time)
    {
        (File, Client, _totals, _time) = (file, client, totals, time);
        Id = Convert.ToHexStringLower(RandomNumberGenerator.GetBytes(6));
        StartedAt = time.WallTime();
        _lastReadAt = _tickedAt = time.GetTimestamp();
    }

    /// <summary>Its id, which outlives its requests.</summary>
    public string Id { get; }

    /// <summary>What is read.</summary>
    public LibraryFile File { get; }

    /// <summary>Who reads it.</summary>
    public PlaybackClient Client { get; }

    /// <summary>Its beginning, by the wall clock.</summary>
    public DateTimeOffset StartedAt { get; }

    /// <summary>Bytes that it has got.</summary>
    public long Bytes => Volatile.Read(ref _bytes);

    /// <summary>Its last read or opening, in ticks of the clock.</summary>
    public long LastReadAt => Volatile.Read(ref _lastReadAt);

    /// <summary>Whether it was read so far, or so long, that a viewer has seen something.</summary>
    public bool WasPlayed => IsTelling || Bytes >= Math.Min(TellingBytes, File.Length);

    /// <summary>Whether a request is open.</summary>
    public bool IsOpen
    {
        get
        {
            lock (_gate)
                return _open.Count > 0;
        }
    }

    /// <summary>Whether it is a playback of its own, and not one of the short looks of a scan.</summary>
    public bool IsTelling
    {
        get
        {
            lock (_gate)
                return _isTelling = _isTelling || Bytes >= TellingBytes || _time.GetElapsedTime(0, OpenFor) >= TellingTime;
        }
    }

    // Under the lock, in ticks of the clock.
    private long OpenFor => _openFor + (_open.Count > 0 ? _time.GetTimestamp() - _openSince : 0);

    /// <summary>A request is about to be opened: it is kept as long as after a read.</summary>
    public void Touch() => Volatile.Write(ref _lastReadAt, _time.GetTimestamp());

    /// <summary>A request has been opened. It is a seek where it does not go on behind another.</summary>
    public void Enter(PlayedStream stream)
    {
        Touch();
        lock (_gate)
        {
            var isSeek = _requests > 0 && !_ends.Concat(_open.Select(static other => other.Position)).Any(end => stream.Begin > end - AskedTwice && stream.Begin <= end + LeftOut);
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

    /// <summary>A request has ended.</summary>
    public void Leave(PlayedStream stream)
    {
        var repeated = stream.Look()?.Repeated ?? 0;
        var now = _time.GetTimestamp();
        lock (_gate)
        {
            if (!_open.Remove(stream))
                return;
            if (_open.Count == 0)
                _openFor += now - _openSince;
            _repeated += repeated;
            _waitedBefore += stream.Waited(now);
            if (_ends.Count == MostEnds)
                _ends.Dequeue();
            _ends.Enqueue(stream.Position);
        }
    }

    /// <summary>By a request: bytes were read.</summary>
    public void Read(int count, long position, long now)
    {
        Interlocked.Add(ref _bytes, count);
        Volatile.Write(ref _position, position);
        Volatile.Write(ref _lastReadAt, now);
        _totals.Sent(count);
    }

    /// <summary>By a request, once: its first bytes have come.</summary>
    public void Begun(PlayedStream stream, double ms)
    {
        _totals.Begun(ms);
        lock (_gate)
        {
            _firstByteMs ??= ms;
            var seek = _seeks.FindIndex(each => each.Stream == stream);
            if (seek >= 0)
                _seeks[seek] = _seeks[seek] with { Stream = null, Ms = ms };
        }
    }

    /// <summary>A second is over.</summary>
    public void Tick()
    {
        var now = _time.GetTimestamp();
        lock (_gate)
        {
            var waits = _waitedBefore + _open.Sum(stream => stream.Waited(now));
            _waitedShare = now > _tickedAt ? Math.Clamp((double)(waits - _tickedWaits) / (now - _tickedAt), 0, 1) : 0;
            if (_rates.Count == Seconds)
                _rates.Dequeue();
            _rates.Enqueue(Bytes - _tickedBytes);
            (_tickedAt, _tickedBytes, _tickedWaits) = (now, Bytes, waits);
        }
    }

    /// <summary>Ends its requests.</summary>
    public void Stop()
    {
        PlayedStream[] open;
        lock (_gate)
            open = [.. _open];
        foreach (var stream in open)
            stream.Abort();
    }

    /// <summary>How it gets on right now.</summary>
    public PlaybackSnapshot Look()
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

        // The one that waits longest tells most; of those that do not wait, the one that was opened last.
        var first = open.OrderBy(static stream => stream.WaitingSince ?? long.MaxValue).ThenByDescending(static stream => stream.OpenedAt).FirstOrDefault();
        if (first is null)
            return seen;
        var waiting = first.WaitingSince is { } since ? _time.GetElapsedTime(since, now) : TimeSpan.Zero;
        return seen with
        {
            Waiting = waiting,
            ClientIdle = first.WaitingSince is null ? _time.GetElapsedTime(lastRead, now) : TimeSpan.Zero,
            Stream = first.Look(),
        };
    }
}

/// <summary>Counts over all playbacks since the start.</summary>
/// <remarks>Thread-safe: atomic additions, and a short lock for each request that begins.</remarks>
internal sealed class PlaybackTotals(TimeProvider time)
{
    private const int MostTimes = 1024;
    private static readonly TimeSpan Told = TimeSpan.FromMinutes(10);

    // Guards the times to first bytes. Nothing is called under it.
    private readonly Lock _gate = new();
    private readonly Queue<(long At, double Ms)> _firstBytes = new();
    private long _sent;

    /// <summary>Bytes that clients have got.</summary>
    public long BytesSent => Volatile.Read(ref _sent);

    /// <summary>Median and 95th percentile of the times to first bytes of the last ten minutes, in ms, of 1,024 requests at most; null where there was none.</summary>
    public (double P50, double P95)? FirstBytes
    {
        get
        {
            double[] times;
            lock (_gate)
                times = [.. _firstBytes.Where(first => time.GetElapsedTime(first.At) < Told).Select(static first => first.Ms)];
            if (times.Length == 0)
                return null;
            Array.Sort(times);
            return (At(0.5), At(0.95));

            double At(double part) => times[(int)Math.Ceiling(part * times.Length) - 1];
        }
    }

    /// <summary>Bytes went to a client.</summary>
    public void Sent(int count) => Interlocked.Add(ref _sent, count);

    /// <summary>The first bytes of a request have come.</summary>
    public void Begun(double ms)
    {
        lock (_gate)
        {
            if (_firstBytes.Count == MostTimes)
                _firstBytes.Dequeue();
            _firstBytes.Enqueue((time.GetTimestamp(), ms));
        }
    }
}
