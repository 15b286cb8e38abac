namespace Sluice.Server.WebDav.Locks;

/// <summary>The result of a lock request. Both fields are null if the lock table is full.</summary>
/// <param name="Conflict">An existing lock that excludes the requested one.</param>
internal readonly record struct LockGrant(DavLock? Granted, DavLock? Conflict);

/// <summary>The locks of the tree. Thread-safe; each call is atomic and ignores expired locks.</summary>
internal interface ILockingManager
{
    /// <summary>Grants a lock unless a conflicting lock covers the resource or, for a deep lock, exists below it.</summary>
    /// <param name="timeout">The requested timeout; capped at <see cref="LockTimeout.Longest"/>.</param>
    LockGrant Grant(LockTerms terms, TimeSpan timeout);

    /// <summary>Restarts the timeout of a lock; null if the lock does not exist.</summary>
    DavLock? Refresh(string token, TimeSpan timeout);

    /// <summary>Releases a lock on the resource; false if no lock there has this token.</summary>
    bool Release(LockKey key, string token);

    /// <summary>The locks that cover a resource, set on it or on an ancestor.</summary>
    IReadOnlyList<DavLock> Covering(LockKey key);

    IReadOnlyList<DavLock> Below(LockKey key);

    /// <summary>Drops all locks below a removed resource and, if <paramref name="itself"/> is true, the locks on the resource itself.</summary>
    void Forget(LockKey key, bool itself);

    /// <summary>Seconds until the lock expires, rounded up.</summary>
    long SecondsLeft(DavLock granted);
}
