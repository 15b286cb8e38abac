namespace Sluice.Usenet.Nntp;

/// <summary>The fetches that wait for a connection of one pool, in the order in which they will be served. Guarded by the pool's lock.</summary>
internal sealed class LeaseQueue
{
    private readonly Queue<LeaseWaiter>[] _classes = [.. Enumerable.Range(0, LeaseWaiter.Classes).Select(_ => new Queue<LeaseWaiter>())];

    /// <summary>Fetches that wait; those that have given up in the meantime may still be counted.</summary>
    public int Count { get; private set; }

    public LeaseWaiter Add(ArticleRequest request)
    {
        var waiter = new LeaseWaiter(request);
        _classes[waiter.Class].Enqueue(waiter);
        Count++;
        return waiter;
    }

    /// <summary>Whether a fetch would have to wait behind others.</summary>
    public bool HasBefore(ArticleRequest request)
    {
        var last = LeaseWaiter.ClassOf(request);
        for (var i = 0; Count > 0 && i <= last; i++)
        {
            if (TryPeek(_classes[i], out _))
                return true;
        }

        return false;
    }

    /// <summary>Serves each class from its front until one cannot be served.</summary>
    /// <param name="tryServe">Places a request; null when it has to wait on.</param>
    /// <param name="giveBack">Takes a lease that its fetch does not want any more.</param>
    public void Serve(Func<ArticleRequest, ConnectionLease?> tryServe, Action<ConnectionLease> giveBack)
    {
        if (Count == 0)
            return;
        foreach (var queue in _classes)
        {
            while (TryPeek(queue, out var waiter) && tryServe(waiter.Request) is { } lease)
            {
                queue.Dequeue();
                Count--;
                if (!waiter.TryGrant(lease))
                    giveBack(lease);
            }
        }
    }

    /// <summary>Ends all waiting.</summary>
    public void FailAll(NntpException failure)
    {
        foreach (var queue in _classes)
        {
            while (queue.TryDequeue(out var waiter))
                waiter.Fail(failure);
        }

        Count = 0;
    }

    private bool TryPeek(Queue<LeaseWaiter> queue, [System.Diagnostics.CodeAnalysis.MaybeNullWhen(false)] out LeaseWaiter waiter)
    {
        while (queue.TryPeek(out waiter))
        {
            if (!waiter.IsOver)
                return true;
            queue.Dequeue();
            Count--;
        }

        return false;
    }
}
