namespace Sluice.Usenet.Nntp;

/// <summary>Receives the raw body of one article while it arrives.</summary>
/// <remarks>
/// Called by one thread at a time, from the read loop of a connection, so implementations must not block, wait or throw.
/// The sink is not called again after the fetch has ended or was canceled.
/// </remarks>
public interface IArticleSink
{
    /// <summary>Begins a body. Called once per attempt, before its first <see cref="Write"/>; any bytes of an earlier attempt become void.</summary>
    /// <param name="provider">Index of the provider in its pool.</param>
    void Start(int provider);

    /// <summary>Receives the next body bytes as sent: with dot-stuffing, CRLF line ends and the terminating line <c>.</c> (RFC 3977 section 3.1.1).</summary>
    /// <param name="raw">Valid only during the call.</param>
    /// <param name="consumed">Number of bytes that belong to this body: the length of <paramref name="raw"/>, unless the call returns true.</param>
    /// <returns>True once the CRLF of the terminating line is consumed; the remaining bytes belong to the next reply.</returns>
    bool Write(ReadOnlySpan<byte> raw, out int consumed);

    /// <summary>
    /// Minimum bytes still to come, according to the article itself; 0 if unknown, or if each byte is urgent. Until they arrive, a connection may let a slow
    /// line gather bytes instead of passing on each piece. Read after each <see cref="Write"/>.
    /// </summary>
    long StillToCome => 0;
}
