namespace Sluice.Usenet.Nntp.Admission;

/// <summary>
/// Limits the parallel handshakes of all accounts. One handshake is reserved for accounts without any. Accounts with several must also leave one for each such
/// account, because servers that accept but never greet would otherwise block a good server.
/// </summary>
/// <remarks>Thread-safe. Waiters are served in order, except those that would take a reserved handshake.</remarks>
internal sealed class HandshakeLimit(int most, TimeProvider time)
{
    private const int Several = 2;

    private readonly Lock _gate = new();
    private readonly Dictionary<object, int> _underWay = [];
    private readonly LinkedList<(object Account, TaskCompletionSource Turn)> _waiting = new();
    private int _count;
    private int _accounts = 1;

    /// <summary>Number of accounts that may dial.</summary>
    public int Accounts
    {
        set
        {
            lock (_gate)
                _accounts = value;
        }
    }

    /// <summary>Waits for permission to begin a handshake; <see cref="End"/> must follow. Accounts are compared by reference.</summary>
    /// <exception cref="NntpException">No handshake became free within <paramref name="patience"/>.</exception>
    public async Task BeginAsync(object account, TimeSpan patience, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        var turn = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        LinkedListNode<(object, TaskCompletionSource Turn)> place;
        lock (_gate)
        {
            if (MayBegin(account))
            {
                Begin(account);
                return;
            }

            place = _waiting.AddLast((account, turn));
        }

        using var deadline = new CancellationTokenSource(patience, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(deadline.Token, cancellationToken);
        await using var registration = either.Token.Register(() =>
        {
            lock (_gate)
            {
                if (place.List is null)
                    return;
                _waiting.Remove(place);
            }

            turn.SetCanceled(either.Token);
        });
        try
        {
            await turn.Task;
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            throw new NntpException(NntpFault.NoConnection, "Too many other connections were being opened.");
        }
    }

    /// <summary>Ends a handshake, successful or not, and lets others begin.</summary>
    public void End(object account)
    {
        lock (_gate)
        {
            _count--;
            if (_underWay[account] == 1)
                _underWay.Remove(account);
            else
                _underWay[account]--;
            for (var place = _waiting.First; place is not null;)
            {
                var next = place.Next;
                if (MayBegin(place.Value.Account))
                {
                    _waiting.Remove(place);
                    Begin(place.Value.Account);
                    place.Value.Turn.SetResult();
                }

                place = next;
            }
        }
    }

    private bool MayBegin(object account)
    {
        var kept = _underWay.GetValueOrDefault(account) switch
        {
            0 => 0,
            < Several => 1,
            _ => Math.Max(1, _accounts - _underWay.Count),
        };
        return _count < most - kept;
    }

    private void Begin(object account)
    {
        _count++;
        _underWay[account] = _underWay.GetValueOrDefault(account) + 1;
    }
}
