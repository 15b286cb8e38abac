using System.Collections;
using Sluice.Server.Diagnostics;

namespace Sluice.Server.Playbacks;

/// <summary>
/// Names the playback of a request in every line of the log that is written for it, from when that is known: the scope is there before any
/// of the request, and what is loaded for it takes it along.
/// </summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class PlaybackScope : IEnumerable<KeyValuePair<string, object?>>
{
    private volatile string? _id;

    /// <summary>The request belongs to a playback.</summary>
    public void Name(string id) => _id = id;

    /// <inheritdoc/>
    public IEnumerator<KeyValuePair<string, object?>> GetEnumerator()
    {
        if (_id is { } id)
            yield return new KeyValuePair<string, object?>(LogRing.StreamKey, id);
    }

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
}

/// <summary>A request that reads a file.</summary>
/// <param name="Client">Who reads.</param>
/// <param name="Abort">Ends it, for a playback that is stopped; on any thread.</param>
/// <param name="Scope">Its lines in the log; null where it has none.</param>
internal sealed record PlaybackRequest(PlaybackClient Client, Action Abort, PlaybackScope? Scope)
{
    private static readonly PlaybackRequest OfNone = new(new PlaybackClient("", ""), static () => { }, null);

    /// <summary>Reads a request, once trusted proxies have been read; null where nothing but the server itself reads.</summary>
    public static PlaybackRequest Of(HttpContext? http) =>
        http is null ? OfNone : new PlaybackRequest(PlaybackClient.Of(http), http.Abort, http.Features.Get<PlaybackScope>());
}

/// <summary>Puts a scope around requests.</summary>
internal static class PlaybackScopes
{
    /// <summary>Adds it, around everything that answers.</summary>
    public static IApplicationBuilder UsePlaybackScopes(this IApplicationBuilder app)
    {
        var logger = app.ApplicationServices.GetRequiredService<ILoggerFactory>().CreateLogger(typeof(PlaybackScope));
        return app.Use((http, next) => HttpMethods.IsGet(http.Request.Method) ? RunAsync(http, next, logger) : next(http));
    }

    private static async Task RunAsync(HttpContext http, RequestDelegate next, ILogger logger)
    {
        var scope = new PlaybackScope();
        http.Features.Set(scope);
        using (logger.BeginScope(scope))
            await next(http);
    }
}
