namespace Sluice.Usenet.Nntp.Connections;

/// <summary>
/// How many handshakes are under way at a time at all accounts together. One of them is kept for an account that has none under way,
/// and one for each such account from those that have several, so that servers that accept and never greet cannot keep a good one from
/// being reached.
/// </summary>
/// <remarks>Thread-safe. Waits end in their order, but for those that would take the last from an account that has none.</remarks>
internal sealed class HandshakeLimit(int most, TimeProvider time)
{
    private const int Several = 2;

    private readonly Lock _gate = new();
    private readonly Dictionary<object, int> _underWay = [];
    private readonly LinkedList<(object Account, TaskCompletionSource Turn)> _waiting = new();
    private int _count;
    private int _accounts = 1;

    /// <summary>How many accounts there are that may want one.</summary>
    public int Accounts
    {
        set
        {
            lock (_gate)
                _accounts = value;
        }
    }

    /// <summary>Waits for the turn of a handshake, which <see cref="End"/> ends.</summary>
    /// <param name="account">Stands for the account that dials; compared by reference.</param>
    /// <param name="patience">Longest wait.</param>
    /// <param name="cancellationToken">Gives the wait up.</param>
    /// <exception cref="NntpException">It was not its turn in time.</exception>
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

    /// <summary>A handshake has ended, whatever came of it.</summary>
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
