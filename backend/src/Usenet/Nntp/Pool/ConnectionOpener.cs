namespace Sluice.Usenet.Nntp;

/// <summary>How an attempt to open a connection ended: with a transport, or with the reason why there is none.</summary>
/// <param name="Transport">Logged in; owned by whoever receives it. Null after a failure.</param>
/// <param name="Failure">Null after a success.</param>
/// <param name="WasCancelled">Whether nobody wanted the connection any more, so that the failure says nothing about the provider.</param>
internal readonly record struct OpenOutcome(NntpTransport? Transport, NntpException? Failure, bool WasCancelled);

/// <summary>Dials within the limit of handshakes that may be under way at a time.</summary>
internal sealed class ConnectionOpener(SharedResources shared, LineEstimate line, IDialPlaces places)
{
    private readonly KnownFamily _family = new();

    /// <summary>Opens a connection. Never fails: the outcome says what came of it.</summary>
    /// <param name="provider">Where, and with which login.</param>
    /// <param name="cancellationToken">Gives the dial up.</param>
    public async Task<OpenOutcome> OpenAsync(ProviderOptions provider, CancellationToken cancellationToken)
    {
        // The caller holds the lock of its pool.
        await Task.Yield();
        try
        {
            await shared.Handshakes.BeginAsync(this, shared.Options.LoginTimeout, cancellationToken);
            try
            {
                var started = shared.Time.GetTimestamp();
                var transport = await (shared.Dial?.Invoke(provider, cancellationToken)
                    ?? new NntpDialer(provider, shared.Options, shared.Meter, shared.Time, shared.Names, places, _family).DialAsync(cancellationToken));
                line.ObserveHandshake(started);
                return new OpenOutcome(transport, null, WasCancelled: false);
            }
            finally
            {
                shared.Handshakes.End(this);
            }
        }
        catch (NntpException failure)
        {
            // That too many others were under way says nothing about this one.
            return new OpenOutcome(null, failure, cancellationToken.IsCancellationRequested || failure.Fault == NntpFault.NoConnection);
        }
        catch (OperationCanceledException cancelled)
        {
            return new OpenOutcome(null, new NntpException(NntpFault.NoConnection, "The connection was not needed any more.", cancelled), WasCancelled: true);
        }
    }
}
