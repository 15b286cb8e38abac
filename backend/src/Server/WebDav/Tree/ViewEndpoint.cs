using Microsoft.AspNetCore.Authorization;
using Microsoft.AspNetCore.Http.Features;
using Sluice.Server.Library;
using Sluice.Server.WebDav.Handlers;

namespace Sluice.Server.WebDav.Tree;

/// <summary><c>/view/&lt;tree path&gt;</c>: library files for players that accept a link but no password (DAV-80). Other paths respond with 404.</summary>
internal sealed class ViewEndpoint(IStore store, Playlist playlist, WebDavDispatcher dispatcher, IEnumerable<IRequestHandler> handlers)
{
    private readonly IRequestHandler _reading = handlers.Single(handler => handler.Verbs.Contains(Verbs.Get));

    public Task AnswerAsync(HttpContext http) => dispatcher.GuardAsync(http, ServeAsync);

    private async Task ServeAsync(HttpContext http)
    {
        if (ViewLink.Read(http, http.Features.GetRequiredFeature<IHttpRequestFeature>().RawTarget) is not { Path: { } path })
        {
            Refusal.Write(http.Response, StatusCodes.Status400BadRequest);
            return;
        }

        if (!path.HasTrailingSlash && PlaylistPath.FolderOf(path.Segments) is { } folder)
        {
            await playlist.WriteAsync(http, folder);
            return;
        }

        var isLibrary = path.Segments is [TreeNames.Content or TreeNames.Ids, ..] && !path.HasTrailingSlash;
        var item = isLibrary ? await store.FindAsync(path, http.RequestAborted) : null;
        if (item is not IStoreFile file || store.Classify(path, item) is not { } row)
        {
            Refusal.Write(http.Response, StatusCodes.Status404NotFound);
            return;
        }

        var query = http.Request.Query;
        var viewed = new ViewedFile(file, ViewedFile.ReadExtension(query["extension"]), query["download"] == "true");
        await _reading.HandleAsync(new DavRequest(http, path, row, viewed));
    }
}

internal static class ViewEndpointRegistration
{
    /// <summary>Maps GET and HEAD. Other verbs fall through to the tree, which responds with 404.</summary>
    public static IEndpointConventionBuilder MapView(this IEndpointRouteBuilder endpoints) =>
        endpoints
            .MapMethods(
                $"/{TreeNames.View}/{{**path}}",
                [Verbs.Get, Verbs.Head],
                http => http.RequestServices.GetRequiredService<ViewEndpoint>().AnswerAsync(http))
            .RequireAuthorization(new AuthorizationPolicyBuilder(ViewAuthenticationHandler.SchemeName).RequireAuthenticatedUser().Build());
}
