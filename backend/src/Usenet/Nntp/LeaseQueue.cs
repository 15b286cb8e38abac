namespace Sluice.Usenet.Nntp;

/// <summary>
/// The fetches that wait for a connection of one pool, in the order in which they will be served: readers that wait, oldest
/// first; what is fetched ahead, fairly by reader; imports and health checks, fairly by lane. Guarded by the pool's lock.
/// </summary>
internal sealed class LeaseQueue
{
    private readonly LinkedList<LeaseWaiter> _headOfLine = new();
    private readonly FairQueue _ahead = new();
    private readonly FairQueue _background = new();

    private enum Class
    {
        HeadOfLine,
        Ahead,
        Background,
    }

    /// <summary>Fetches that wait.</summary>
    public int Count { get; private set; }

    /// <summary>Those of them that nobody watches.</summary>
    public int BackgroundCount { get; private set; }

    public void Add(LeaseWaiter waiter)
    {
        Count++;
        switch (ClassOf(waiter.Request))
        {
            case Class.HeadOfLine:
                _headOfLine.AddLast(waiter.Place);
                break;
            case Class.Ahead:
                _ahead.Add(waiter, PartyOf(waiter.Request));
                break;
            default:
                BackgroundCount++;
                _background.Add(waiter, PartyOf(waiter.Request));
                break;
        }
    }

    /// <summary>Takes a waiter out.</summary>
    /// <returns>False when it does not wait any more.</returns>
    public bool Remove(LeaseWaiter waiter)
    {
        if (waiter.Place.List is null)
            return false;

        Count--;
        if (waiter.Place.List == _headOfLine)
        {
            _headOfLine.Remove(waiter.Place);
        }
        else if (waiter.Request.Lane == OperationLane.Playback)
        {
            _ahead.Remove(waiter, PartyOf(waiter.Request));
        }
        else
        {
            BackgroundCount--;
            _background.Remove(waiter, PartyOf(waiter.Request));
        }

        return true;
    }

    /// <summary>A reader has come to wait for it: it goes before all that is fetched ahead.</summary>
    public void Raise(LeaseWaiter waiter)
    {
        if (waiter.Place.List is null || waiter.Place.List == _headOfLine || waiter.Request.Lane != OperationLane.Playback)
            return;
        _ahead.Remove(waiter, PartyOf(waiter.Request));
        _headOfLine.AddLast(waiter.Place);
    }

    /// <summary>Whether a fetch would have to wait behind others.</summary>
    public bool HasBefore(ArticleRequest request)
    {
        var own = ClassOf(request);
        return _headOfLine.Count > 0 || (own >= Class.Ahead && !_ahead.IsEmpty) || (own == Class.Background && !_background.IsEmpty);
    }

    /// <summary>Serves each class in its order until one fetch of it cannot be served.</summary>
    /// <param name="tryServe">Serves a waiter; false when it has to wait on.</param>
    public void Serve(Func<LeaseWaiter, bool> tryServe)
    {
        while (_headOfLine.First is { Value: var waiter } && tryServe(waiter))
            Remove(waiter);
        ServeFairly(_ahead, tryServe);
        ServeFairly(_background, tryServe);
    }

    /// <summary>Ends all waiting.</summary>
    public void FailAll(NntpException failure)
    {
        foreach (var waiter in (LeaseWaiter[])[.. _headOfLine, .. _ahead.TakeAll(), .. _background.TakeAll()])
            waiter.Fail(failure);
        _headOfLine.Clear();
        (Count, BackgroundCount) = (0, 0);
    }

    private void ServeFairly(FairQueue queue, Func<LeaseWaiter, bool> tryServe)
    {
        while (queue.TryPeek(out var waiter) && tryServe(waiter))
        {
            Count--;
            if (queue == _background)
                BackgroundCount--;
            queue.Served(waiter, PartyOf(waiter.Request));
        }
    }

    private static Class ClassOf(ArticleRequest request) => request.Lane switch
    {
        OperationLane.Playback => request.Urgency?.IsHeadOfLine == true ? Class.HeadOfLine : Class.Ahead,
        _ => Class.Background,
    };

    /// <summary>Among whom a class is shared. A fetch without a reader belongs to its lane.</summary>
    private static object PartyOf(ArticleRequest request) => request.Lane == OperationLane.Playback && request.Urgency is { } urgency ? urgency.Reader : request.Lane;
}
