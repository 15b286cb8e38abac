using Sluice.Usenet.Nntp.Wire;

namespace Sluice.Usenet.Nntp.Connections;

/// <summary>Opens the connections of one pool, within the limit of handshakes that may be under way at a time.</summary>
/// <remarks>Thread-safe.</remarks>
/// <param name="shared">What all pools share.</param>
/// <param name="line">Learns how long a handshake takes.</param>
/// <param name="pool">Where a second address that is dialled has its place.</param>
internal sealed class PoolDialer(SharedResources shared, LineEstimate line, NntpConnectionPool pool)
{
    private readonly KnownFamily _family = new();

    /// <summary>Dials and logs in. Never fails.</summary>
    /// <param name="provider">Where, and with which login.</param>
    /// <param name="cancellationToken">Gives the dial up.</param>
    /// <returns>A transport that is logged in, or why there is none; and whether it was not needed any more, so that the failure says nothing about the provider.</returns>
    public async Task<(NntpTransport? Transport, NntpException? Failure, bool WasCancelled)> OpenAsync(ProviderOptions provider, CancellationToken cancellationToken)
    {
        // The caller may hold the lock.
        await Task.Yield();
        try
        {
            await shared.Handshakes.BeginAsync(pool, shared.Options.LoginTimeout, cancellationToken);
            try
            {
                var started = shared.Time.GetTimestamp();
                var transport = await (shared.Dial?.Invoke(provider, cancellationToken)
                    ?? new NntpDialer(provider, shared.Options, shared.Meter, shared.Time, shared.Names, pool, _family).DialAsync(cancellationToken));
                line.ObserveHandshake(started);
                return (transport, null, false);
            }
            finally
            {
                shared.Handshakes.End(pool);
            }
        }
        catch (NntpException failure)
        {
            // That too many others were under way says nothing about this one.
            return (null, failure, cancellationToken.IsCancellationRequested || failure.Fault == NntpFault.NoConnection);
        }
        catch (OperationCanceledException cancelled)
        {
            return (null, new NntpException(NntpFault.NoConnection, "The connection was not needed any more.", cancelled), true);
        }
        catch (Exception error)
        {
            // Its place would be taken for ever.
            return (null, new NntpException(NntpFault.Broken, $"A dial was given up because of a failure in this process: {error.GetType().Name}.", error), false);
        }
    }
}
