using Microsoft.Extensions.DependencyInjection.Extensions;
using Sluice.Server.Auth;

namespace Sluice.Server.Pages;

internal static class PagesRegistration
{
    // Names of pages (DAV-3). The UI itself routes everything below these names.
    private static readonly string[] Names =
        ["setup", "login", "streams", "files", "queue", "history", "health", "benchmark", "logs", "settings", "rescue"];

    // Sonarr and Radarr link to these SABnzbd pages, such as /config/categories/.
    private static readonly string[] ForeignNames = ["config", "sabnzbd"];

    public static IServiceCollection AddPages(this IServiceCollection services)
    {
        services.TryAddEnumerable(ServiceDescriptor.Singleton<MatcherPolicy, ForBrowsersPolicy>());
        return services.AddSingleton(PageFolder.OfThisProgram).AddSingleton<PageFiles>().AddSingleton<IndexPage>();
    }

    /// <summary>
    /// Maps the page and its files without a password. Redirects a browser from a folder of the tree to the page that shows the folder, and from a SABnzbd page
    /// to the settings. Unknown paths also get the UI, because it can explain the error.
    /// </summary>
    public static void MapPages(this IEndpointRouteBuilder routes, Func<PathString, bool> isFolder, Func<PathString, bool> isUnknown)
    {
        string[] reading = [HttpMethods.Get, HttpMethods.Head];
        foreach (var name in PageFiles.RootNames.Append("assets/{**path}"))
            routes.MapMethods($"/{name}", reading, AnswerFile).OpenAs(OpenEndpoint.Static);
        // Match before endpoints that serve other clients under the same name, such as /health.
        foreach (var name in Names.Select(name => $"{name}/{{**path}}").Prepend(""))
            routes.MapMethods($"/{name}", reading, AnswerPage).OpenAs(OpenEndpoint.Static).WithMetadata(new ForBrowsers()).WithOrder(-1);
        // Match in the default order, so that the API keeps /sabnzbd/api.
        foreach (var name in ForeignNames)
            routes.MapMethods($"/{name}/{{**path}}", reading, RedirectToSettings).OpenAs(OpenEndpoint.Static).WithMetadata(new ForBrowsers());
        routes.MapMethods("/{**path}", [HttpMethods.Get], AnswerPage)
            .OpenAs(OpenEndpoint.Static).WithMetadata(new ForBrowsers(isUnknown)).WithOrder(int.MaxValue - 2);
        // Match just before the tree, after all other endpoints.
        routes.MapMethods("/{**path}", [HttpMethods.Get], RedirectToFiles)
            .OpenAs(OpenEndpoint.Static).WithMetadata(new ForBrowsers(isFolder)).WithOrder(int.MaxValue - 1);
    }

    private static Task AnswerFile(HttpContext http) => http.RequestServices.GetRequiredService<PageFiles>().AnswerAsync(http);

    private static Task AnswerPage(HttpContext http) => http.RequestServices.GetRequiredService<IndexPage>().AnswerAsync(http);

    // The UI shows the tree without its roots: /content/movies is the folder movies.
    private static readonly (string Root, string Page)[] RootPages = [("/content", "/files"), ("/completed-symlinks", "/files"), ("/nzbs", "/queue")];

    private static Task RedirectToFiles(HttpContext http)
    {
        foreach (var (root, page) in RootPages)
        {
            if (http.Request.Path.StartsWithSegments(root, StringComparison.Ordinal, out var rest))
                return Redirect(http, http.Request.PathBase.Add(page).Add(page == "/queue" ? default : new PathString(rest.Value?.TrimEnd('/'))));
        }

        return Redirect(http, http.Request.PathBase.Add("/files"));
    }

    private static Task RedirectToSettings(HttpContext http) => Redirect(http, http.Request.PathBase.Add("/settings/download-client"));

    private static Task Redirect(HttpContext http, PathString path)
    {
        http.Response.StatusCode = StatusCodes.Status302Found;
        http.Response.Headers.Location = path.ToUriComponent();
        http.Response.Headers.Vary = "Accept";
        http.Response.Headers.CacheControl = "no-store";
        return Task.CompletedTask;
    }
}
