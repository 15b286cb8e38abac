using Sluice.Server.Diagnostics;
using Sluice.Server.Events;

namespace Sluice.Server.History;

internal static class HistoryRegistration
{
    public static IServiceCollection AddHistory(this IServiceCollection services) => services
        .AddSingleton<ItemPasswords>()
        .AddSingleton<HistoryStore>()
        .AddSingleton<HistoryListStore>()
        .AddSingleton<CompletedStore>()
        .AddSingleton<IWorker, PosterWorker>()
        .AddSingleton(HistoryStore.NzbReference)
        .AddSingleton(provider => HistoryItemsChanged.Watch(provider.GetRequiredService<EventFeed>()));
}
