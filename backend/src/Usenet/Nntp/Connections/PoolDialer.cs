using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Wire;

namespace Sluice.Usenet.Nntp.Connections;

/// <summary>Opens one pool's connections, within the limit on parallel handshakes. Thread-safe.</summary>
internal sealed class PoolDialer(SharedResources shared, LineEstimate line, NntpConnectionPool pool)
{
    private readonly KnownFamily _family = new();

    /// <summary>Dials and logs in. Never fails.</summary>
    /// <returns>A logged-in transport, or the failure. WasCancelled means that the failure says nothing about the provider.</returns>
    public async Task<(NntpTransport? Transport, NntpException? Failure, bool WasCancelled)> OpenAsync(ProviderOptions provider, CancellationToken cancellationToken)
    {
        // Yields at once, because the caller may hold the pool's lock.
        await Task.Yield();
        try
        {
            await shared.Handshakes.BeginAsync(pool, shared.Options.LoginTimeout, cancellationToken);
            try
            {
                var started = shared.Time.GetTimestamp();
                var transport = await (shared.Dial?.Invoke(provider, cancellationToken)
                    ?? new NntpDialer(provider, shared.Options, shared.Meter, shared.Time, shared.Names, pool, _family, entering: null, shared.Beat, pool.Traffic).DialAsync(cancellationToken));
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
            // A timeout behind too many other handshakes says nothing about this provider.
            return (null, failure, cancellationToken.IsCancellationRequested || failure.Fault == NntpFault.NoConnection);
        }
        catch (OperationCanceledException cancelled)
        {
            return (null, new NntpException(NntpFault.NoConnection, "The connection was not needed any more.", cancelled), true);
        }
        catch (Exception error)
        {
            // Caught too, because the dial's slot would otherwise stay taken forever.
            return (null, new NntpException(NntpFault.Broken, $"A dial was given up because of a failure in this process: {error.GetType().Name}.", error), false);
        }
    }
}
