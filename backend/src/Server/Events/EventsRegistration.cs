namespace Sluice.Server.Events;

internal static class EventsRegistration
{
    /// <summary>Adds the feed and the hub. Other folders register the topics.</summary>
    public static IServiceCollection AddEvents(this IServiceCollection services) => services.AddSingleton<EventFeed>().AddSingleton<EventHub>();
}
