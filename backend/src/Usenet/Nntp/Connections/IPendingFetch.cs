namespace Sluice.Usenet.Nntp.Connections;

/// <summary>How a fetch reacts to a late reply.</summary>
internal enum Lateness
{
    /// <summary>The fetch waits on, because no reader waits or no other provider can be asked.</summary>
    Tolerated,

    /// <summary>The article was requested elsewhere too, and both replies race.</summary>
    Raced,

    /// <summary>The fetch abandons the reply, because it was itself a hedge or because the provider's bodies keep failing.</summary>
    Abandoned,
}

/// <summary>The view of a fetch that a connection and a pool have.</summary>
/// <remarks>
/// Thread-safe. The pool reports a long wait for a connection, and the connection reports a late reply. The fetch alone decides how to
/// react.
/// </remarks>
internal interface IPendingFetch
{
    /// <summary>
    /// The lock under which the sink is called and removed. All replies of a fetch share it, so that two never write to the sink at once.
    /// Taken below the lock of <see cref="PendingReplies"/> and above that of a pool.
    /// </summary>
    Lock Gate { get; }

    /// <summary>Whether another reply won. A connection that is still silent is then not worth its socket.</summary>
    bool IsBeaten { get; }

    /// <summary>
    /// Reports a wait that is too long. A reply calls it under the gate while pending; the pool calls it under no lock, perhaps when the
    /// wait has just ended.
    /// </summary>
    /// <param name="isSent">Whether the reply to a command is late; otherwise no connection has become free.</param>
    /// <returns>How the fetch reacts, which also decides about the replies behind.</returns>
    Lateness OnLate(bool isSent);

    /// <summary>Asks to move because the reply before its own is late. Called under the lock of <see cref="PendingReplies"/> and the gate.</summary>
    /// <param name="isPaid">Whether the budget has already paid for the move.</param>
    /// <returns>True if the fetch asks elsewhere and abandons this reply.</returns>
    bool TryMove(bool isPaid);
}
