namespace Sluice.Server.WebDav;

/// <summary>Outcome of a request for a lock. Exactly one of the two is set, or none when there is no room for another lock.</summary>
/// <param name="Granted">The lock.</param>
/// <param name="Conflict">A lock that stands in its way.</param>
internal readonly record struct LockGrant(DavLock? Granted, DavLock? Conflict);

/// <summary>The locks of the tree. Thread-safe; each call is atomic. No call sees an expired lock.</summary>
internal interface ILockingManager
{
    /// <summary>Grants a lock, unless one that excludes it covers the resource or, for a deep one, stands below it.</summary>
    /// <param name="wish">The lock asked for.</param>
    /// <param name="timeout">How long the client wants it; granted up to <see cref="LockTimeout.Longest"/>.</param>
    LockGrant Grant(LockWish wish, TimeSpan timeout);

    /// <summary>Begins the time of a lock anew. Null when there is no such lock.</summary>
    DavLock? Refresh(string token, TimeSpan timeout);

    /// <summary>Ends a lock that covers the resource. False when no such one has this token.</summary>
    bool Release(LockKey key, string token);

    /// <summary>The locks that lock a resource, directly or from above.</summary>
    IReadOnlyList<DavLock> Covering(LockKey key);

    /// <summary>The locks whose root lies below a resource.</summary>
    IReadOnlyList<DavLock> Below(LockKey key);

    /// <summary>Ends the locks of removed resources: those below a resource and, where it was removed itself, its own.</summary>
    void Forget(LockKey key, bool itself);

    /// <summary>How long a lock has left, in whole seconds, rounded up.</summary>
    long SecondsLeft(DavLock granted);
}
