using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Fetching;

namespace Sluice.Server.Providers;

/// <summary>Connects to every provider once and logs the outcome of each in one line; the connections stay for use.</summary>
internal static class ProviderTrial
{
    /// <summary>Tries all of them side by side. Never throws: a provider that fails is a line in the log.</summary>
    public static Task RunAsync(
        ProviderPool pool, IReadOnlyList<ProviderOptions> providers, TimeProvider time, ILogger logger, CancellationToken cancellationToken) =>
        Task.WhenAll(providers.Select((provider, index) => TryAsync(pool, index, provider, time, logger, cancellationToken)));

    private static async Task TryAsync(
        ProviderPool pool, int index, ProviderOptions provider, TimeProvider time, ILogger logger, CancellationToken cancellationToken)
    {
        if (provider.Kind == ProviderKind.Disabled)
        {
            ProvidersLog.Disabled(logger, provider.Name);
            return;
        }

        var started = time.GetTimestamp();
        try
        {
            await pool.ProbeAsync(index, cancellationToken);
            ProvidersLog.Connected(
                logger,
                provider.Name,
                provider.Host,
                provider.Port,
                (long)time.GetElapsedTime(started).TotalMilliseconds,
                provider.UseTls ? "TLS" : "plain text",
                provider.User is null ? "no login" : "login accepted",
                provider.MaxConnections);
        }
        catch (NntpException e)
        {
            ProvidersLog.Failed(logger, provider.Name, e.Message);
        }
        catch (Exception e) when (e is OperationCanceledException or ObjectDisposedException)
        {
            // The settings have changed again, or the process ends.
        }
    }
}
