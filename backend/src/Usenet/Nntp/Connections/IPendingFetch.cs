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
/// <remarks>Thread-safe. The pool reports a long wait; a reply reports its body and its lateness. The fetch alone decides how to react.</remarks>
internal interface IPendingFetch
{
    /// <summary>All replies of a fetch share this lock, so that no two write at once. Taken after the lock of the replies and before a pool's.</summary>
    Lock Gate { get; }

    /// <summary>Whether another reply won, so that this attempt's connection should close if it is still silent.</summary>
    bool IsBeaten(int attempt);

    /// <summary>
    /// Receives the next bytes of an attempt's reply, as <see cref="IArticleSink.Write"/> does. Called under <see cref="Gate"/>. Returns null and consumes
    /// nothing if another attempt leads, because these bytes are then useless.
    /// </summary>
    bool? Write(int attempt, ReadOnlySpan<byte> raw, out int consumed);

    /// <summary>As <see cref="IArticleSink.StillToCome"/>; 0 if another attempt leads. Called under <see cref="Gate"/>.</summary>
    long StillToCome(int attempt);

    /// <summary>Reports a wait that is too long. Called under <see cref="Gate"/>, or without it if the attempt awaits a connection or just stopped.</summary>
    /// <param name="isSent">Whether a sent command's reply is late; otherwise no connection has become free.</param>
    /// <returns>How the fetch reacts, which also decides whether the fetches behind this reply move.</returns>
    Lateness OnLate(int attempt, bool isSent);

    /// <summary>Asks the fetch to move, because a reply before its own is late. Called under the lock of the replies and <see cref="Gate"/>.</summary>
    /// <returns>True if the fetch asks elsewhere and abandons this reply. If <paramref name="isPaid"/>, the hedge budget has already been charged.</returns>
    bool TryMove(int attempt, bool isPaid);
}
