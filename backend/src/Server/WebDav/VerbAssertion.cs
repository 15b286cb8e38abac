namespace Sluice.Server.WebDav;

/// <summary>
/// Makes the dispatcher before the first request, so that a table of verbs which does not fit its handlers stops the start
/// (DAV-92). Not earlier either: what lies behind the store wants the settings to be loaded.
/// </summary>
internal sealed class VerbAssertion(IServiceProvider services) : IHostedService
{
    /// <inheritdoc />
    public Task StartAsync(CancellationToken cancellationToken)
    {
        services.GetRequiredService<WebDavDispatcher>();
        return Task.CompletedTask;
    }

    /// <inheritdoc />
    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
}
