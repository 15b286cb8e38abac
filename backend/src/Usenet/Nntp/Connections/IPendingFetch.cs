namespace Sluice.Usenet.Nntp.Connections;

/// <summary>What a fetch does about a late reply.</summary>
internal enum Lateness
{
    /// <summary>The fetch waits on, because no reader waits or there is no other provider to ask.</summary>
    Borne,

    /// <summary>Its article has been asked for elsewhere as well.</summary>
    Raced,

    /// <summary>Its fetch goes elsewhere like those behind it: it was itself such a second question, or the bodies of its provider fail.</summary>
    Left,
}

/// <summary>All that a connection and a pool know of the fetch for which a command is sent.</summary>
/// <remarks>
/// Thread-safe. Where the fetch waits says that the wait is long: the pool while no connection is free, the connection while the reply
/// does not come. What follows from it is decided by the fetch alone.
/// </remarks>
internal interface IPendingFetch
{
    /// <summary>
    /// The lock under which the sink of the fetch is called and taken away. All replies of a fetch share it, so that two of them never write
    /// to the sink at a time. Taken below the lock of <see cref="PendingReplies"/> and above that of a pool.
    /// </summary>
    Lock Gate { get; }

    /// <summary>Whether another reply has brought the article first: a connection that is silent even now is not worth its socket.</summary>
    bool IsBeaten { get; }

    /// <summary>
    /// The wait is too long. Called by a reply under the gate, while it is pending; by the pool under no lock, perhaps when the wait has just
    /// ended.
    /// </summary>
    /// <param name="isSent">Whether the reply to a command is late; else no connection has become free.</param>
    /// <returns>What the replies behind a late one have to expect.</returns>
    Lateness BeLate(bool isSent);

    /// <summary>The reply before its own does not come. Called under the lock of <see cref="PendingReplies"/> and the gate.</summary>
    /// <param name="isPaid">Whether the fetch has been granted the second question already.</param>
    /// <returns>True when the fetch asks elsewhere and does not want this reply any more.</returns>
    bool TryMove(bool isPaid);
}
