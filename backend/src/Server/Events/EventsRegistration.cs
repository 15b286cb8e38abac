namespace Sluice.Server.Events;

/// <summary>Puts the live events together.</summary>
internal static class EventsRegistration
{
    /// <summary>Adds the feed.</summary>
    public static IServiceCollection AddEvents(this IServiceCollection services) => services.AddSingleton<EventFeed>();
}
