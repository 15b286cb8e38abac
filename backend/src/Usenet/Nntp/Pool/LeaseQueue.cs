using System.Diagnostics.CodeAnalysis;

namespace Sluice.Usenet.Nntp;

/// <summary>
/// The fetches that wait for a connection of one pool, in the order in which they will be served: readers that wait, oldest
/// first; what is fetched ahead, fairly by reader; imports and health checks, fairly by lane. Guarded by the pool's lock.
/// </summary>
internal sealed class LeaseQueue
{
    // A fetch without a reader belongs to its lane; boxed once, because it is looked at for every article.
    private static readonly object[] Lanes = [.. Enum.GetValues<OperationLane>().Cast<object>()];

    private readonly LinkedList<ConnectionLease> _alone = new();
    private readonly LinkedList<ConnectionLease> _aloneUnwatched = new();
    private readonly LinkedList<ConnectionLease> _headOfLine = new();
    private readonly FairQueue _ahead = new();
    private readonly FairQueue _background = new();
    private int _avoiding;
    private readonly int[] _counts = new int[Lanes.Length];
    private readonly int[] _aloneCounts = new int[Lanes.Length];

    /// <summary>Which fetches come before which.</summary>
    public enum Class
    {
        /// <summary>A reader's that needs a connection for itself, and takes the first that is idle; the others go before it to all that are not.</summary>
        Alone,

        /// <summary>A reader waits.</summary>
        HeadOfLine,

        /// <summary>A reader will come.</summary>
        Ahead,

        /// <summary>It needs a connection for itself, and nobody watches.</summary>
        AloneUnwatched,

        /// <summary>Nobody watches.</summary>
        Background,
    }

    /// <summary>Fetches that wait.</summary>
    public int Count { get; private set; }

    /// <summary>Those of them that nobody watches.</summary>
    public int BackgroundCount { get; private set; }

    /// <summary>Those of a lane that may share a connection.</summary>
    public int CountOf(OperationLane lane) => _counts[(int)lane];

    /// <summary>Those of a lane that need a connection each.</summary>
    public int AloneOf(OperationLane lane) => _aloneCounts[(int)lane];

    /// <summary>Whether some of them wait for another connection than those that brought doubtful copies.</summary>
    public bool AvoidsConnections => _avoiding > 0;

    /// <summary>Articles that the readers of these will probably ask for next.</summary>
    public int Following { get; private set; }

    public void Add(ConnectionLease waiter)
    {
        Count++;
        _avoiding += waiter.Request.Avoided is null ? 0 : 1;
        Following += FollowingOf(waiter.Request);
        CountOf(waiter.Request, 1);
        switch (ClassOf(waiter.Request))
        {
            case Class.Alone:
                _alone.AddLast(waiter.Place);
                break;
            case Class.AloneUnwatched:
                _aloneUnwatched.AddLast(waiter.Place);
                break;
            case Class.HeadOfLine:
                _headOfLine.AddLast(waiter.Place);
                break;
            case Class.Ahead:
                _ahead.Add(waiter, PartyOf(waiter.Request));
                break;
            default:
                _background.Add(waiter, PartyOf(waiter.Request));
                break;
        }
    }

    /// <summary>Takes a waiter out.</summary>
    /// <returns>False when it does not wait any more.</returns>
    public bool Remove(ConnectionLease waiter)
    {
        if (waiter.Place.List is null)
            return false;

        Count--;
        _avoiding -= waiter.Request.Avoided is null ? 0 : 1;
        Following -= FollowingOf(waiter.Request);
        CountOf(waiter.Request, -1);
        if (waiter.Place.List == _headOfLine || waiter.Request.IsAlone)
        {
            waiter.Place.List.Remove(waiter.Place);
        }
        else if (waiter.Request.Lane == OperationLane.Playback)
        {
            _ahead.Remove(waiter, PartyOf(waiter.Request));
        }
        else
        {
            _background.Remove(waiter, PartyOf(waiter.Request));
        }

        return true;
    }

    /// <summary>A reader has come to wait for it: it goes before all that is fetched ahead. Nothing happens when it does not wait here any more.</summary>
    public void Raise(ConnectionLease waiter)
    {
        if (!_ahead.Holds(waiter, PartyOf(waiter.Request)))
            return;
        _ahead.Remove(waiter, PartyOf(waiter.Request));
        _headOfLine.AddLast(waiter.Place);
    }

    /// <summary>Whether a fetch would have to wait behind others.</summary>
    public bool HasBefore(in ArticleRequest request)
    {
        var own = ClassOf(request);
        if (request.IsAlone)
            return (own == Class.Alone ? _alone : _aloneUnwatched).Count > 0;
        return _headOfLine.Count > 0 || (own >= Class.Ahead && !_ahead.IsEmpty) || (own == Class.Background && !_background.IsEmpty);
    }

    /// <summary>The one of a class whose turn it is.</summary>
    public bool TryPeek(Class order, [MaybeNullWhen(false)] out ConnectionLease waiter)
    {
        switch (order)
        {
            case Class.Alone:
                waiter = _alone.First?.Value;
                return waiter is not null;
            case Class.AloneUnwatched:
                waiter = _aloneUnwatched.First?.Value;
                return waiter is not null;
            case Class.HeadOfLine:
                waiter = _headOfLine.First?.Value;
                return waiter is not null;
            case Class.Ahead:
                return _ahead.TryPeek(out waiter);
            default:
                return _background.TryPeek(out waiter);
        }
    }

    /// <summary>Takes out the one whose turn it was, which has been served.</summary>
    public void Served(Class order, ConnectionLease waiter)
    {
        if (order is Class.Ahead or Class.Background)
            (order == Class.Ahead ? _ahead : _background).Charge(waiter, PartyOf(waiter.Request));
        Remove(waiter);
    }

    /// <summary>All that wait, in no order.</summary>
    public ConnectionLease[] All() => [.. _alone, .. _headOfLine, .. _ahead.All(), .. _aloneUnwatched, .. _background.All()];

    /// <summary>Articles that the reader of a fetch will probably ask for next.</summary>
    public static int FollowingOf(in ArticleRequest request) => request.Urgency?.Following ?? 0;

    /// <summary>Where a fetch waits.</summary>
    public static Class ClassOf(in ArticleRequest request) => request.Lane switch
    {
        _ when request.IsAlone => request.Lane == OperationLane.Playback ? Class.Alone : Class.AloneUnwatched,
        OperationLane.Playback => request.Urgency?.IsHeadOfLine == true || request.IsLate ? Class.HeadOfLine : Class.Ahead,
        _ => Class.Background,
    };

    private void CountOf(in ArticleRequest request, int change)
    {
        BackgroundCount += request.Lane == OperationLane.Playback ? 0 : change;
        (request.IsAlone ? _aloneCounts : _counts)[(int)request.Lane] += change;
    }

    /// <summary>Among whom a class is shared.</summary>
    private static object PartyOf(in ArticleRequest request) =>
        request.Lane == OperationLane.Playback && request.Urgency is { } urgency ? urgency.Reader : Lanes[(int)request.Lane];
}
