namespace Sluice.Server.SabApi;

/// <summary>Puts the SABnzbd-compatible API together.</summary>
internal static class SabApiRegistration
{
    /// <summary>Adds the modes and what reads and answers calls.</summary>
    public static IServiceCollection AddSabApi(this IServiceCollection services) => services
        .AddSingleton<SabAccess>()
        .AddSingleton<SabBodyReader>()
        .AddSingleton<SabEndpoint>()
        .AddSingleton<TrafficRate>()
        .AddSingleton<QueueHeader>()
        .AddSingleton<QueueActions>()
        .AddSingleton<ISabMode, VersionMode>()
        .AddSingleton<ISabMode, AuthMode>()
        .AddSingleton<ISabMode, AddFileMode>()
        .AddSingleton<ISabMode, QueueMode>()
        .AddSingleton<ISabMode, HistoryMode>();

    /// <summary>Maps its paths.</summary>
    public static void MapSabApi(this IEndpointRouteBuilder endpoints) => SabEndpoint.Map(endpoints);
}
