using Microsoft.Extensions.DependencyInjection.Extensions;
using Sluice.Server.Auth;

namespace Sluice.Server.Pages;

/// <summary>The web UI as files, in the composition root.</summary>
internal static class PagesRegistration
{
    // Names of pages (DAV-3). What comes below them is the business of the page.
    private static readonly string[] Names =
        ["setup", "login", "streams", "files", "queue", "history", "health", "benchmark", "logs", "settings"];

    /// <summary>Adds what the pages need.</summary>
    public static IServiceCollection AddPages(this IServiceCollection services)
    {
        services.TryAddEnumerable(ServiceDescriptor.Singleton<MatcherPolicy, ForBrowsersPolicy>());
        return services.AddSingleton(PageFolder.OfThisProgram).AddSingleton<PageFiles>().AddSingleton<IndexPage>();
    }

    /// <summary>Maps the page for browsers and its files, all without a password.</summary>
    /// <param name="routes">Gets the routes.</param>
    /// <param name="isFolder">Whether a path can only mean a folder of the tree: browsers are sent to the page that shows it.</param>
    public static void MapPages(this IEndpointRouteBuilder routes, Func<PathString, bool> isFolder)
    {
        string[] reading = [HttpMethods.Get, HttpMethods.Head];
        foreach (var name in PageFiles.RootNames.Append("assets/{**path}"))
            routes.MapMethods($"/{name}", reading, AnswerFile).OpenAs(OpenEndpoint.Static);
        // Before what answers to the same name for others: /health.
        foreach (var name in Names.Select(name => $"{name}/{{**path}}").Prepend(""))
            routes.MapMethods($"/{name}", reading, AnswerPage).OpenAs(OpenEndpoint.Static).WithMetadata(new ForBrowsers()).WithOrder(-1);
        // Before the tree and after all others.
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
