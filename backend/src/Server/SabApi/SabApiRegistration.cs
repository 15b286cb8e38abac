namespace Sluice.Server.SabApi;

internal static class SabApiRegistration
{
    public static IServiceCollection AddSabApi(this IServiceCollection services) => services
        .AddSingleton<SabAccess>()
        .AddSingleton<SabBodyReader>()
        .AddSingleton<SabEndpoint>()
        .AddSingleton<TrafficRate>()
        .AddSingleton<QueueHeader>()
        .AddSingleton<QueueActions>()
        .AddSingleton<HistoryActions>()
        .AddSingleton<StatusSources>()
        .AddSingleton<ISabMode, AuthMode>()
        .AddSingleton<ISabMode, AddFileMode>()
        .AddSingleton<ISabMode, AddUrlMode>()
        .AddSingleton<ISabMode, AddLocalFileMode>()
        .AddSingleton<SpeedLimitMode>()
        .AddSingleton<ISabMode>(static provider => provider.GetRequiredService<SpeedLimitMode>())
        .AddSingleton<ISabMode, QueueMode>()
        .AddSingleton<ISabMode, SwitchMode>()
        .AddSingleton<ISabMode, GetFilesMode>()
        .AddSingleton<ISabMode, ConfigMode>()
        .AddSingleton<ISabMode, CancelPpMode>()
        .AddSingleton<ISabMode, HistoryMode>()
        .AddSingleton<ISabMode, RetryMode>()
        .AddSingleton<ISabMode, GetConfigMode>()
        .AddSingleton<ISabMode>(services => new StatusMode("status", services.GetRequiredService<StatusSources>()))
        .AddSingleton<ISabMode>(services => new StatusMode("fullstatus", services.GetRequiredService<StatusSources>()))
        .AddSingleton<ISabMode, ServerStatsMode>()
        .AddSingleton<ISabMode, WarningsMode>()
        .AddSingleton<SmallModes>();

    /// <summary>
    /// Responds to API calls at a wrong path with 404 (SAB-7), after routing and before authentication. Otherwise the tree would ask for its password, so
    /// Sonarr would report a wrong key although the URL base is wrong. At <c>/api/api</c>, the web UI's API would do the same.
    /// </summary>
    public static void UseSabApiPaths(this IApplicationBuilder app, Func<PathString, bool> isTree, Func<HttpContext, bool> isUnknownCall) =>
        app.Use((context, next) =>
            SabEndpoint.LooksLikeCall(context)
            && !isTree(context.Request.Path)
            && (context.GetEndpoint() is RouteEndpoint { Order: int.MaxValue } || isUnknownCall(context))
                ? SabAnswer.RefuseAsync(context, StatusCodes.Status404NotFound, SabTexts.WrongPath)
                : next(context));

    public static void MapSabApi(this IEndpointRouteBuilder endpoints) => SabEndpoint.Map(endpoints);
}
