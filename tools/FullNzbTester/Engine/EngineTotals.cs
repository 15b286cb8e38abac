namespace Sluice.Tools.FullNzbTester.Engine;

/// <summary>The counts of all sessions of a run; one session is open at a time.</summary>
internal sealed class EngineTotals
{
    private EngineSession? _open;
    private NntpCounters _closed;

    /// <summary>The counts so far, those of the open session included.</summary>
    public NntpCounters Now => _open is null ? _closed : Add(_closed, _open.Counters);

    internal void Opened(EngineSession session)
    {
        if (_open is not null)
            throw new InvalidOperationException("Two sessions at a time would share the connections of one account.");
        _open = session;
    }

    internal void Closed(EngineSession session)
    {
        _closed = Add(_closed, session.Counters);
        _open = null;
    }

    private static NntpCounters Add(in NntpCounters left, in NntpCounters right) => new()
    {
        Commands = left.Commands + right.Commands,
        Bodies = left.Bodies + right.Bodies,
        Stats = left.Stats + right.Stats,
        Flushes = left.Flushes + right.Flushes,
        Articles = left.Articles + right.Articles,
        Misses = left.Misses + right.Misses,
        Unanswered = left.Unanswered + right.Unanswered,
        BytesReceived = left.BytesReceived + right.BytesReceived,
        SocketsOpened = left.SocketsOpened + right.SocketsOpened,
        SocketsAbandoned = left.SocketsAbandoned + right.SocketsAbandoned,
        SocketsPeak = Math.Max(left.SocketsPeak, right.SocketsPeak),
        Tries = left.Tries + right.Tries,
        Hedges = left.Hedges + right.Hedges,
        HedgesWon = left.HedgesWon + right.HedgesWon,
        Waited = left.Waited + right.Waited,
        Fetched = left.Fetched + right.Fetched,
    };
}
