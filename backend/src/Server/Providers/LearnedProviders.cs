using Microsoft.Extensions.Options;
using Sluice.Server.Settings;
using Sluice.Usenet.Nntp;

namespace Sluice.Server.Providers;

/// <summary>What has been learned about providers, in memory and in the database.</summary>
internal sealed class LearnedProviders(ProviderMemory memory, ProviderMemoryStore store, IOptionsMonitor<UsenetOptions> options) : ILearnedMemory
{
    /// <inheritdoc/>
    public async Task RestoreAsync(CancellationToken cancellationToken) =>
        memory.Restore(await store.LoadAsync(options.CurrentValue.MissCacheEntries, cancellationToken));

    /// <inheritdoc/>
    public async Task SaveAsync(CancellationToken cancellationToken)
    {
        var values = memory.TakeNew();
        if (!values.IsEmpty)
            await store.SaveAsync(values, options.CurrentValue.MissCacheEntries, cancellationToken);
    }
}
