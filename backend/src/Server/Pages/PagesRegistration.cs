using Microsoft.Extensions.DependencyInjection.Extensions;
using Sluice.Server.Auth;

namespace Sluice.Server.Pages;

/// <summary>Registers the web UI.</summary>
internal static class PagesRegistration
{
    // Names of pages (DAV-3). The page itself routes everything below them.
    private static readonly string[] Names =
        ["setup", "login", "streams", "files", "queue", "history", "health", "benchmark", "logs", "settings"];

    public static IServiceCollection AddPages(this IServiceCollection services)
    {
        services.TryAddEnumerable(ServiceDescriptor.Singleton<MatcherPolicy, ForBrowsersPolicy>());
        return services.AddSingleton(PageFolder.OfThisProgram).AddSingleton<PageFiles>().AddSingleton<IndexPage>();
    }

    /// <summary>
    /// Maps the page and its files without a password. Browsers that request a folder of the tree are redirected to the page that shows it.
    /// </summary>
    public static void MapPages(this IEndpointRouteBuilder routes, Func<PathString, bool> isFolder)
    {
        string[] reading = [HttpMethods.Get, HttpMethods.Head];
        foreach (var name in PageFiles.RootNames.Append("assets/{**path}"))
            routes.MapMethods($"/{name}", reading, AnswerFile).OpenAs(OpenEndpoint.Static);
        // Before endpoints with the same name for other clients, such as /health.
        foreach (var name in Names.Select(name => $"{name}/{{**path}}").Prepend(""))
            routes.MapMethods($"/{name}", reading, AnswerPage).OpenAs(OpenEndpoint.Static).WithMetadata(new ForBrowsers()).WithOrder(-1);
        // Just before the tree, after all other endpoints.
        routes.MapMethods("/{**path}", [HttpMethods.Get], Redirect)
            .OpenAs(OpenEndpoint.Static).WithMetadata(new ForBrowsers(isFolder)).WithOrder(int.MaxValue - 1);
    }

    private static Task AnswerFile(HttpContext http) => http.RequestServices.GetRequiredService<PageFiles>().AnswerAsync(http);

    private static Task AnswerPage(HttpContext http) => http.RequestServices.GetRequiredService<IndexPage>().AnswerAsync(http);

    private static Task Redirect(HttpContext http)
    {
        http.Response.StatusCode = StatusCodes.Status302Found;
        http.Response.Headers.Location = http.Request.PathBase.Add("/files").Add(http.Request.Path).ToUriComponent();
        http.Response.Headers.Vary = "Accept";
        http.Response.Headers.CacheControl = "no-store";
        return Task.CompletedTask;
    }
}
