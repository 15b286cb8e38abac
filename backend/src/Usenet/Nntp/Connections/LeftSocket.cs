using System.Diagnostics.CodeAnalysis;
using System.Net.Sockets;
using Sluice.Usenet.Nntp.Wire;

namespace Sluice.Usenet.Nntp.Connections;

/// <summary>
/// A socket that the pool has closed in the middle of a reply or of a login. The server counts it until it has noticed, so it keeps its
/// place until the server closes its side too, or until a limit. Only the sending side is closed, because a reset would leave nothing to
/// see the server's close by; a server that goes on sending is reset.
/// </summary>
/// <remarks>Used under the lock of the pool, but for <see cref="WaitAsync"/>, which runs once and without it.</remarks>
[SuppressMessage("Design", "CA1001:Types that own disposable fields should be disposable", Justification = "The source holds neither a timer nor a handle.")]
internal sealed class LeftSocket
{
    // What was on its way when the sending side was closed; a server that sends more than this has not stopped.
    private const int MostOnItsWay = 4 * 1024;

    private readonly Socket _socket;
    private readonly SharedResources _shared;
    private readonly CancellationTokenSource _release = new();
    private volatile bool _isReset;

    /// <param name="socket">Its sending side is closed; owned.</param>
    /// <param name="shared">Limits and the clock.</param>
    public LeftSocket(Socket socket, SharedResources shared)
    {
        (_socket, _shared) = (socket, shared);
        Since = shared.Time.GetTimestamp();
    }

    /// <summary>When it was closed here, in ticks of the time provider.</summary>
    public long Since { get; }

    /// <summary>When its place became free; null while it is held.</summary>
    public long? FreedAt { get; set; }

    /// <summary>Whether the server has been sent a reset, after which its close cannot be seen.</summary>
    public bool IsReset => _isReset;

    /// <summary>Whether the server was seen to close its side. Written before <see cref="WaitAsync"/> ends.</summary>
    public bool WasSeen { get; private set; }

    /// <summary>Ends when the place is free. Never fails.</summary>
    /// <param name="resetsHelp">Whether this server is known to notice a reset, but not that the sending side was closed.</param>
    /// <param name="disposing">The pool closes: ends at once.</param>
    public async Task WaitAsync(Func<bool> resetsHelp, CancellationToken disposing)
    {
        var options = _shared.Options;
        using var limit = new CancellationTokenSource(options.CloseLimit, _shared.Time);
        using var end = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, disposing, _release.Token);
        try
        {
            var seen = await DrainAsync(options.CloseGrace, end.Token);
            if (seen == Seen.Nothing && !resetsHelp())
                seen = await DrainAsync(null, end.Token);
            WasSeen = seen == Seen.Close;
            if (WasSeen)
                return;
            if (_isReset)
                await Task.Delay(Timeout.InfiniteTimeSpan, _shared.Time, end.Token);
            _socket.Reset();
            await Task.Delay(options.CloseGrace, _shared.Time, end.Token);
        }
        catch (OperationCanceledException)
        {
            // The limit is over, the pool closes, or the server has shown that it has room.
        }
        finally
        {
            _socket.Reset();
        }
    }

    /// <summary>Resets the connection to find out whether the server notices that. The place is held all the same.</summary>
    public void Reset()
    {
        _isReset = true;
        _socket.Reset();
    }

    /// <summary>The server has shown that it does not count the socket any more.</summary>
    public void Release() => _release.Cancel();

    private async Task<Seen> DrainAsync(TimeSpan? patience, CancellationToken cancellationToken)
    {
        using var patient = patience is { } time ? new CancellationTokenSource(time, _shared.Time) : new CancellationTokenSource();
        using var either = CancellationTokenSource.CreateLinkedTokenSource(patient.Token, cancellationToken);
        var waste = new byte[MostOnItsWay];
        try
        {
            for (var received = 0; received <= MostOnItsWay;)
            {
                var count = await _socket.ReceiveAsync(waste, SocketFlags.None, either.Token);
                if (count == 0)
                    return Seen.Close;
                received += count;
            }

            return Seen.Bytes;
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return Seen.Nothing;
        }
        catch (Exception error) when (error is SocketException or ObjectDisposedException)
        {
            return _isReset ? Seen.Nothing : Seen.Close;
        }
    }

    /// <summary>What the server has done since the sending side was closed.</summary>
    private enum Seen
    {
        Nothing,
        Close,
        Bytes,
    }
}

/// <summary>
/// The sockets of one account that its pool has closed itself. That they are closed teaches nothing: a socket that the server may still
/// count keeps its place, and while such places are wanted a single dial now and then tries whether the server has room by now. A refusal
/// proves no more than that the server takes no more than all of these together.
/// </summary>
/// <remarks>Pure state of one pool, used under its lock; <see cref="ResetsHelp"/> is read without it, too.</remarks>
internal sealed class LeftSockets(ConnectionCap cap, SharedResources shared)
{
    // A trial dial comes no sooner after the last one, and ever later the more refusals there were within the last minute: a server
    // sees less than twenty of them.
    private static readonly (int Refusals, TimeSpan Pause)[] Pauses =
        [(6, TimeSpan.FromSeconds(1)), (12, TimeSpan.FromSeconds(2)), (int.MaxValue, TimeSpan.FromSeconds(6))];

    // Once may be chance: another that was counted may have gone in the same moment.
    private const int EnoughResets = 2;

    private static readonly TimeSpan Minute = TimeSpan.FromSeconds(60);

    // A server may close its side a moment before it counts a socket less.
    private static readonly TimeSpan CountsOn = TimeSpan.FromSeconds(2);

    private readonly List<LeftSocket> _sockets = [];
    private readonly Queue<long> _refusals = new();
    private long? _lastLeft;
    private long? _notBefore;
    private long? _triedResets;
    private int _resetsNoticed;
    private LeftSocket? _reset;
    private bool _isTrial;
    private volatile bool _resetsHelp;

    /// <summary>Whether the server is known to notice a reset sooner than the close of one side.</summary>
    public bool ResetsHelp => _resetsHelp;

    /// <summary>Whether no dial begins before <see cref="Rest"/> is over, and was found to be.</summary>
    public bool HoldsUpDials => _notBefore is not null;

    /// <summary>How long no dial begins.</summary>
    public TimeSpan Rest => TimeSpan.FromSeconds((double)((_notBefore ?? 0) - shared.Time.GetTimestamp()) / shared.Time.TimestampFrequency);

    private LeftSocket? OldestHeld => _sockets.Find(socket => socket.FreedAt is null);

    private TimeSpan Pause => Array.Find(Pauses, step => _refusals.Count < step.Refusals).Pause;

    /// <summary>One of the sockets that are closing was closed by the pool, and the server may not have noticed.</summary>
    public void Add(LeftSocket socket)
    {
        _sockets.RemoveAll(other => other.FreedAt is not null && !MayStillCount(other));
        _sockets.Add(socket);
        _lastLeft = socket.Since;
    }

    /// <summary><see cref="Rest"/> is over.</summary>
    public void EndRest() => _notBefore = null;

    /// <summary>Whether to try now whether the server has room, although all places are taken: some are held only in case it counts them.</summary>
    /// <param name="again">When to ask again though nothing has happened until then; null: not before something does.</param>
    public bool MayTry(out TimeSpan? again)
    {
        again = null;
        if (OldestHeld is not { } oldest)
            return false;
        var now = shared.Time.GetTimestamp();
        if (Pauses[0].Pause - shared.Time.GetElapsedTime(oldest.Since, now) is var rest && rest > TimeSpan.Zero)
        {
            again = rest;
            return false;
        }

        // Now and then a trial finds out whether a reset is noticed where the close of one side is not: with the newest, which the server
        // will count longest if it is not.
        if (_reset is null && (_triedResets is not { } tried || _resetsNoticed > 0 || shared.Time.GetElapsedTime(tried, now) >= Minute))
        {
            _triedResets = now;
            _reset = _sockets.FindLast(socket => socket.FreedAt is null);
            _reset!.Reset();
            again = shared.Options.CloseGrace;
            _notBefore = After(now, shared.Options.CloseGrace);
            return false;
        }

        _isTrial = true;
        return true;
    }

    /// <summary>A dial has brought a connection.</summary>
    /// <param name="count">All sockets of the account by now.</param>
    public void Opened(int count)
    {
        if (!_isTrial)
            return;
        var tried = _reset;
        (_isTrial, _reset) = (false, null);
        if (count <= cap.Current)
            return;

        // The server had room for one more than could be counted. It has noticed one whose close cannot be seen, else the oldest.
        var noticed = tried ?? _sockets.Find(socket => socket is { FreedAt: null, IsReset: true }) ?? OldestHeld;
        if (tried is not null && ++_resetsNoticed == EnoughResets)
        {
            _resetsHelp = true;
            foreach (var socket in _sockets.Where(socket => socket.FreedAt is null && shared.Time.GetElapsedTime(socket.Since) >= shared.Options.CloseGrace))
                socket.Release();
        }

        noticed?.Release();
    }

    /// <summary>A dial has ended otherwise than by a connection or a refusal.</summary>
    public void DialFailed() => (_isTrial, _reset) = (false, null);

    /// <summary>The server has refused one more.</summary>
    /// <param name="counted">Those that it may have counted beside that one.</param>
    /// <param name="serving">Those of them that serve: with none of these a refusal says nothing about their number.</param>
    public void Refused(int counted, int serving)
    {
        var now = shared.Time.GetTimestamp();
        while (_refusals.TryPeek(out var first) && shared.Time.GetElapsedTime(first, now) >= Minute)
            _refusals.Dequeue();
        _refusals.Enqueue(now);
        if (_isTrial)
        {
            (_isTrial, _reset, _resetsHelp, _resetsNoticed) = (false, null, false, 0);
            _notBefore = After(now, Pause);
        }

        if (counted == 0)
            return;
        var proven = Math.Min(cap.Proven, cap.Current);
        if (counted < proven && _sockets.Find(MayStillCount) is { } unnoticed && counted + _sockets.Count(MayStillCount) >= proven)
        {
            // It has taken more before, and each of these explains one refusal.
            _sockets.Remove(unnoticed);
            (_resetsHelp, _resetsNoticed) = (false, 0);
            _notBefore = After(now, Pause);
            return;
        }

        cap.Refused(counted, isDoubtful: _lastLeft is { } at && shared.Time.GetElapsedTime(at, now) < shared.Options.CloseLimit, isSure: serving > 0);
    }

    // One whose close was not seen may be counted for as long as any.
    private bool MayStillCount(LeftSocket socket) =>
        socket.FreedAt is { } freed
        && (shared.Time.GetElapsedTime(freed) < CountsOn || (!socket.WasSeen && shared.Time.GetElapsedTime(socket.Since) < shared.Options.CloseLimit));

    private long After(long now, TimeSpan pause) => now + (long)(pause.TotalSeconds * shared.Time.TimestampFrequency);
}
