namespace Sluice.Usenet.Nntp;

/// <summary>Receives the raw body of one article while it arrives.</summary>
/// <remarks>
/// Called by one thread at a time, from the read loop of a connection: implementations must not block, wait or throw.
/// After the fetch has ended (also by cancellation) the sink is not called again.
/// </remarks>
public interface IArticleSink
{
    /// <summary>
    /// A provider begins to deliver the body. Called once per try, before the first <see cref="Write"/> of that try;
    /// what an earlier try delivered is void.
    /// </summary>
    /// <param name="provider">Index of the provider in its pool.</param>
    void Start(int provider);

    /// <summary>
    /// Takes the next stretch of the body as it came off the wire: lines end in CRLF, leading dots are still doubled, and
    /// the terminating line <c>.</c> is part of it (RFC 3977 section 3.1.1).
    /// </summary>
    /// <param name="raw">Lent for the duration of the call.</param>
    /// <param name="consumed">
    /// How many bytes belong to this body. Equal to the length of <paramref name="raw"/> unless the call returns true.
    /// </param>
    /// <returns>True when the CRLF of the terminating line has been consumed; the rest belongs to the next reply.</returns>
    bool Write(ReadOnlySpan<byte> raw, out int consumed);
}
