namespace Sluice.Usenet.Nntp.Connections;

/// <summary>How a fetch reacts to a late reply.</summary>
internal enum Lateness
{
    /// <summary>The fetch keeps waiting, because no reader waits or no other provider can be asked.</summary>
    Tolerated,

    /// <summary>The article was requested elsewhere too, and both replies race.</summary>
    Raced,

    /// <summary>The fetch abandons the reply, because it was itself a hedge or because the provider's bodies keep failing.</summary>
    Abandoned,
}

/// <summary>A fetch, as seen by its replies and the pools. It may make several attempts, which it numbers from 0.</summary>
/// <remarks>Thread-safe. The pool reports a long wait, the reply its body and its lateness. The fetch alone decides how to react.</remarks>
internal interface IPendingFetch
{
    /// <summary>All replies of a fetch share this lock, so that two never write at once. Taken below the lock of the replies, above a pool's.</summary>
    Lock Gate { get; }

    /// <summary>Whether another reply won, so that a connection that is still silent should close.</summary>
    bool IsBeaten(int attempt);

    /// <summary>
    /// Takes the next bytes of an attempt's reply, under the gate, as in <see cref="IArticleSink.Write"/>. Null if another attempt leads, so that the bytes are
    /// useless and nothing was consumed.
    /// </summary>
    bool? Write(int attempt, ReadOnlySpan<byte> raw, out int consumed);

    /// <summary>As <see cref="IArticleSink.StillToCome"/>, under the gate; 0 if another attempt leads.</summary>
    long StillToCome(int attempt);

    /// <summary>Reports a wait that is too long, under the gate, or under no lock if the attempt waits for a connection or just stopped.</summary>
    /// <param name="isSent">Whether the reply to a command is late; otherwise no connection has become free.</param>
    /// <returns>How the fetch reacts, which also decides about the replies behind.</returns>
    Lateness OnLate(int attempt, bool isSent);

    /// <summary>Asks to move because the reply before its own is late. Called under the lock of the replies and the gate.</summary>
    /// <returns>True if the fetch asks elsewhere and abandons this reply. If <paramref name="isPaid"/>, the hedge budget was charged already.</returns>
    bool TryMove(int attempt, bool isPaid);
}
