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
        .AddSingleton<HistoryActions>()
        .AddSingleton<StatusSources>()
        .AddSingleton<ISabMode, VersionMode>()
        .AddSingleton<ISabMode, AuthMode>()
        .AddSingleton<ISabMode, AddFileMode>()
        .AddSingleton<ISabMode, AddUrlMode>()
        .AddSingleton<ISabMode, AddLocalFileMode>()
        .AddSingleton<ISabMode, WatchedNowMode>()
        .AddSingleton<SpeedLimitMode>()
        .AddSingleton<ISabMode>(static provider => provider.GetRequiredService<SpeedLimitMode>())
        .AddSingleton<ISabMode, QueueMode>()
        .AddSingleton<ISabMode, SwitchMode>()
        .AddSingleton<ISabMode, ChangeCatMode>()
        .AddSingleton<ISabMode, ChangeScriptMode>()
        .AddSingleton<ISabMode, ChangeOptsMode>()
        .AddSingleton<ISabMode, GetFilesMode>()
        .AddSingleton<ISabMode, MoveNzfBulkMode>()
        .AddSingleton<ISabMode, PauseMode>()
        .AddSingleton<ISabMode, ResumeMode>()
        .AddSingleton<ISabMode, ConfigMode>()
        .AddSingleton<ISabMode, CancelPpMode>()
        .AddSingleton<ISabMode, HistoryMode>()
        .AddSingleton<ISabMode, RetryMode>()
        .AddSingleton<ISabMode, RetryAllMode>()
        .AddSingleton<ISabMode, GetConfigMode>()
        .AddSingleton<ISabMode, GetCatsMode>()
        .AddSingleton<ISabMode, GetScriptsMode>()
        .AddSingleton<ISabMode>(services => new StatusMode("status", services.GetRequiredService<StatusSources>()))
        .AddSingleton<ISabMode>(services => new StatusMode("fullstatus", services.GetRequiredService<StatusSources>()))
        .AddSingleton<ISabMode, ServerStatsMode>()
        .AddSingleton<ISabMode, WarningsMode>()
        .AddSingleton<ISabMode, TranslateMode>()
        .AddSingleton<ISabMode, DisconnectMode>()
        .AddModes(name => new NoEffectMode(name), "rss_now", "reset_quota", "pause_pp", "resume_pp")
        .AddModes(name => new LockedMode(name), "set_config", "set_config_default", "del_config");

    /// <summary>Maps its paths.</summary>
    public static void MapSabApi(this IEndpointRouteBuilder endpoints) => SabEndpoint.Map(endpoints);

    private static IServiceCollection AddModes(this IServiceCollection services, Func<string, ISabMode> mode, params string[] names)
    {
        foreach (var name in names)
            services.AddSingleton(mode(name));
        return services;
    }
}
