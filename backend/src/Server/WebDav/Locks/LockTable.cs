namespace Sluice.Server.WebDav.Locks;

/// <summary>
/// The locks of the tree, kept only in memory (DAV-46). A restart drops them; clients must expect a lock to expire at any time anyway. Lookups scan all locks,
/// because there are few. Thread-safe.
/// </summary>
internal sealed class LockTable(TimeProvider time) : ILockingManager
{
    public const int MaxLocks = 1000;

    // Guards _locks. Not held across an await or a call to other code.
    private readonly Lock _gate = new();
    private readonly Dictionary<string, DavLock> _locks = new(StringComparer.Ordinal);

    public LockGrant Grant(LockTerms terms, TimeSpan timeout)
    {
        lock (_gate)
        {
            Purge();
            foreach (var other in _locks.Values)
            {
                var excludes = terms.Scope == LockScope.Exclusive || other.Terms.Scope == LockScope.Exclusive;
                if (excludes && (other.Covers(terms.Root) || (terms.IsDeep && other.Terms.Root.IsBelow(terms.Root))))
                    return new LockGrant(null, other);
            }

            if (_locks.Count >= MaxLocks)
                return default;
            var granted = new DavLock($"urn:uuid:{Guid.NewGuid():D}", terms, Expiry(timeout));
            _locks.Add(granted.Token, granted);
            return new LockGrant(granted, null);
        }
    }

    public DavLock? Refresh(string token, TimeSpan timeout)
    {
        lock (_gate)
        {
            Purge();
            return _locks.TryGetValue(token, out var old) ? _locks[token] = old with { Expires = Expiry(timeout) } : null;
        }
    }

    public bool Release(LockKey key, string token)
    {
        lock (_gate)
        {
            Purge();
            return _locks.TryGetValue(token, out var held) && held.Covers(key) && _locks.Remove(token);
        }
    }

    public IReadOnlyList<DavLock> Covering(LockKey key) => Where(held => held.Covers(key));

    public IReadOnlyList<DavLock> Below(LockKey key) => Where(held => held.Terms.Root.IsBelow(key));

    public void Forget(LockKey key, bool itself)
    {
        lock (_gate)
        {
            foreach (var held in _locks.Values)
            {
                if (held.Terms.Root.IsBelow(key) || (itself && held.Terms.Root == key))
                    _locks.Remove(held.Token);
            }
        }
    }

    public long SecondsLeft(DavLock granted) => Math.Max(0, (long)Math.Ceiling(time.GetElapsedTime(time.GetTimestamp(), granted.Expires).TotalSeconds));

    private IReadOnlyList<DavLock> Where(Func<DavLock, bool> predicate)
    {
        lock (_gate)
        {
            Purge();
            return _locks.Count == 0 ? [] : [.. _locks.Values.Where(predicate)];
        }
    }

    private long Expiry(TimeSpan timeout) =>
        time.GetTimestamp() + (long)((timeout < LockTimeout.Longest ? timeout : LockTimeout.Longest).TotalSeconds * time.TimestampFrequency);

    private void Purge()
    {
        var now = time.GetTimestamp();
        foreach (var held in _locks.Values)
        {
            if (held.Expires <= now)
                _locks.Remove(held.Token);
        }
    }
}
