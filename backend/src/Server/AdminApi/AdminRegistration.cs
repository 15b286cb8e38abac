namespace Sluice.Server.AdminApi;

/// <summary>The API of the web UI in the composition root.</summary>
internal static class AdminRegistration
{
    /// <summary>Adds what its resources need.</summary>
    public static IServiceCollection AddAdminApi(this IServiceCollection services) => services
        .AddSingleton<EffectiveValues>()
        .ConfigureHttpJsonOptions(options => AdminJson.Configure(options.SerializerOptions));

    /// <summary>Maps the resources into their group; the caller adds the path and the authorization.</summary>
    public static RouteGroupBuilder MapAdminApi(this RouteGroupBuilder api)
    {
        api.MapSettings();
        api.MapWebDavPassword();
        api.MapArr();
        return api;
    }
}
