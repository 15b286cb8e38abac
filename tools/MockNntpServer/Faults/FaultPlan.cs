using Sluice.Tools.MockNntpServer.Articles;

namespace Sluice.Tools.MockNntpServer.Faults;

/// <summary>The context in which the mock checks for a fault.</summary>
internal readonly record struct FaultPoint(int Provider, int Connection, TimeSpan Now)
{
    public string? Verb { get; init; }

    public ArticleReference? Article { get; init; }

    /// <summary>1-based attempt for the article at this provider, or number of the login.</summary>
    public int Try { get; init; }
}

/// <summary>The active faults with their counts. Thread-safe: immutable except for the atomic counts.</summary>
internal sealed class FaultPlan
{
    private readonly ulong _seed;
    private readonly ActiveFault[] _faults;

    /// <summary>Creates a plan. Faults that the previous plan also contains keep their counts.</summary>
    public FaultPlan(ulong seed, IEnumerable<MockFault> faults, FaultPlan? former)
    {
        _seed = seed;
        _faults = [.. faults.Select(fault => former?.Find(fault) ?? new ActiveFault(fault, Placement.Salt(fault.Kind)))];
    }

    /// <summary>Returns the first matching fault of a stage and counts it against its limit; null for none.</summary>
    public MockFault? Hit(FaultStage stage, in FaultPoint point)
    {
        foreach (var active in _faults)
        {
            if (active.Stage == stage && Concerns(active, point) && active.TryTake())
                return active.Fault;
        }

        return null;
    }

    /// <summary>Returns the active fault of a kind for a connection, without counting it.</summary>
    public MockFault? Regime(FaultKind kind, in FaultPoint point)
    {
        foreach (var active in _faults)
        {
            if (active.Fault.Kind == kind && Concerns(active, point))
                return active.Fault;
        }

        return null;
    }

    /// <summary>Uncounts a fault that had no effect, because there was nothing to swap or damage.</summary>
    public void GiveBack(MockFault fault) => Find(fault)?.GiveBack();

    /// <summary>Returns the fault that refuses or drops connections now, without counting it.</summary>
    public MockFault? Gate(int provider, TimeSpan now) =>
        Array.Find(_faults, active => active.Stage == FaultStage.Gate && (active.Fault.Provider ?? provider) == provider && Lasts(active.Fault, now))?.Fault;

    /// <summary>Time of the next gate change, counted from the mock's start; null if none follows.</summary>
    public TimeSpan? NextGateChange(TimeSpan now)
    {
        TimeSpan? next = null;
        foreach (var active in _faults.Where(active => active.Stage == FaultStage.Gate))
        {
            foreach (var edge in new[] { active.Fault.After, active.Fault.Until })
            {
                if (edge > now && (next is null || edge < next))
                    next = edge;
            }
        }

        return next;
    }

    public void Reset() => Array.ForEach(_faults, active => active.Reset());

    private static bool Lasts(MockFault fault, TimeSpan now) =>
        (fault.After is not { } after || now >= after) && (fault.Until is not { } until || now < until);

    private bool Concerns(ActiveFault active, in FaultPoint point)
    {
        var fault = active.Fault;
        if ((fault.Provider is { } provider && provider != point.Provider)
            || (fault.Connection is { } connection && connection != point.Connection)
            || !ConcernsVerb(active, point)
            || !Lasts(fault, point.Now))
            return false;

        var rate = fault.Rate;
        var place = (ulong)point.Connection;
        if (point.Article is { } article)
        {
            var tries = fault.EffectiveTries;
            if (fault.Articles?.Allows(article.MessageId, article.File, article.Part) == false || (tries > 0 && point.Try > tries))
                return false;
            rate *= fault.Articles?.Rate ?? 1;
            place = article.Hash;
        }

        // A fault of an article is permanent, while a fault of a response is drawn again for each response.
        var attempt = active.Stage == FaultStage.Bytes || fault.Kind == FaultKind.Missing ? 0 : point.Try;
        return rate >= 1 || Placement.Roll(_seed, fault.Everywhere ? -1 : point.Provider, place, active.Salt, attempt) < rate;
    }

    private static bool ConcernsVerb(ActiveFault active, in FaultPoint point) => active.Stage switch
    {
        FaultStage.Login => point.Verb == (active.Fault.Verb ?? "AUTHINFO PASS"),
        FaultStage.Command when active.Fault.Kind == FaultKind.PolicyStatLie => point.Article is not null && point.Verb != "STAT",
        FaultStage.Command when active.Fault.Kind == FaultKind.PolicyFlap => point.Article is not null && point.Try % 2 == 1,
        FaultStage.Command when active.Fault.Verb is null || active.Fault.Kind == FaultKind.Missing =>
            point.Article is not null || (HitsAnyCommand(active.Fault.Kind) && point.Verb is "DATE" or "QUIT"),
        _ => active.Fault.Verb is not { } verb || verb == point.Verb,
    };

    private static bool HitsAnyCommand(FaultKind kind) => kind is FaultKind.Command500 or FaultKind.Command503 or FaultKind.CommandBare
        or FaultKind.CommandLineFeed or FaultKind.CommandLong or FaultKind.CommandSwapped or FaultKind.CommandTwice or FaultKind.CommandSlow or FaultKind.Command400 or FaultKind.Command480
        or FaultKind.Command502 or FaultKind.CommandGarbage or FaultKind.CommandHalf or FaultKind.CommandDrip;

    private ActiveFault? Find(MockFault fault) => Array.Find(_faults, active => ReferenceEquals(active.Fault, fault));

    private sealed class ActiveFault(MockFault fault, ulong salt)
    {
        private long _hits;

        public MockFault Fault { get; } = fault;

        public FaultStage Stage { get; } = FaultNames.StageOf(fault.Kind);

        public ulong Salt { get; } = salt;

        public bool TryTake()
        {
            if (Interlocked.Increment(ref _hits) <= Fault.Count || Fault.Count is not > 0)
                return true;
            GiveBack();
            return false;
        }

        public void GiveBack() => Interlocked.Decrement(ref _hits);

        public void Reset() => Interlocked.Exchange(ref _hits, 0);
    }
}
