using Microsoft.AspNetCore.Http.HttpResults;
using Sluice.Server.Auth;
using Sluice.Server.Events;

namespace Sluice.Server.AdminApi;

/// <summary>Registers the API of the web UI.</summary>
internal static class AdminRegistration
{
    public static IServiceCollection AddAdminApi(this IServiceCollection services) => services
        .AddSingleton<QueueRows>()
        .AddSingleton<HistoryRows>()
        .AddSingleton<FileSelector>()
        .AddSingleton<StreamViews>()
        .AddSingleton<StatViews>()
        .AddSingleton<HomeViews>()
        .AddSingleton<ProviderTable>()
        .AddSingleton<SystemViews>()
        .AddSingleton<SupportBundle>()
        .AddTopics()
        .AddAnswerCompression()
        .ConfigureHttpJsonOptions(options => AdminJson.Configure(options.SerializerOptions));

    /// <summary>Adds the topics of the event stream (ADM-20). Their pages add <c>health</c> and <c>bench</c>.</summary>
    private static IServiceCollection AddTopics(this IServiceCollection services) => services
        .AddSingleton<ITopic, SetupTopic>()
        .AddSingleton<ITopic, ConfigTopic>()
        .AddSingleton<ITopic, LogsTopic>()
        .AddSingleton<ITopic, QueueTopic>()
        .AddSingleton<ITopic, HistoryTopic>()
        .AddSingleton<ITopic, FilesTopic>()
        .AddSingleton<ITopic, StatsTopic>()
        .AddSingleton<ITopic, StreamsTopic>()
        .AddSingleton<ITopic, ProvidersTopic>()
        .AddSingleton<ITopic, BackupsTopic>()
        .AddSingleton<ITopic, ClientsTopic>()
        .AddSingleton<ITopicFamily, StreamTopics>();

    /// <summary>Maps all resources. Each requires a login unless it is marked as open.</summary>
    public static void MapAdminApi(this IEndpointRouteBuilder routes)
    {
        var api = routes.MapGroup("/api");
        api.WithMetadata(new AdminEndpoint()).RequireAuthorization(AdminDoor.Name);
        api.MapAccess();
        api.MapCredentials();
        api.MapImport();
        api.MapSettings();
        api.MapWebDavPassword();
        api.MapSecretKey();
        api.MapArr();
        api.MapQueue();
        api.MapHistory();
        api.MapProviders();
        api.MapHome();
        api.MapStreams();
        api.MapReceipts();
        api.MapFiles();
        api.MapRemovals();
        api.MapPictures();
        api.MapLogs();
        api.MapSystem();
        api.MapBackups();
        api.MapRescue();
        api.MapEvents();
        api.MapGet("/openapi.json", Describe).ExcludeFromDescription();
        // Also catch wrong methods and content types, because otherwise the WebDAV tree would respond and ask for its own password.
        api.Map("/{resource}/{**rest}", NotFound).WithMetadata(new UnknownCall()).ExcludeFromDescription();
    }

    /// <summary>Returns the name that metrics use for the part of the server that responds to a request.</summary>
    public static string EdgeOf(HttpContext http) => http.GetEndpoint()?.Metadata is not { } endpoint ? "webdav"
        : endpoint.GetMetadata<AdminEndpoint>() is not null ? "admin"
        : endpoint.GetMetadata<OpenEndpoint>()?.Name switch
        {
            OpenEndpoint.SabApi => "sabnzbd",
            OpenEndpoint.Static => "pages",
            OpenEndpoint.Process or OpenEndpoint.Metrics => "process",
            _ => "webdav",
        };

    /// <summary>Whether routing found no call of this API for a request below <c>/api</c>.</summary>
    public static bool IsUnknownCall(HttpContext http) => http.GetEndpoint()?.Metadata.GetMetadata<UnknownCall>() is not null;

    /// <summary>Returns the API description in the repository. A test generates it, so that the server ships without a generator.</summary>
    private static FileStreamHttpResult Describe() =>
        TypedResults.Stream(typeof(AdminRegistration).Assembly.GetManifestResourceStream("openapi.json")!, "application/json");

    private static JsonHttpResult<Problem> NotFound() => AdminProblem.NotFound("There is no call with this path, method and type of content.");

    /// <summary>Marks the endpoint that catches unknown calls.</summary>
    private sealed class UnknownCall;
}
