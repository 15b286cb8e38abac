namespace Sluice.Server.Events;

/// <summary>Puts the live events together.</summary>
internal static class EventsRegistration
{
    /// <summary>Adds the feed, and the hub over the topics that others bring.</summary>
    public static IServiceCollection AddEvents(this IServiceCollection services) => services.AddSingleton<EventFeed>().AddSingleton<EventHub>();
}
