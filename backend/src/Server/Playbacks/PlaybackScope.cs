using System.Collections;
using Sluice.Server.Diagnostics;

namespace Sluice.Server.Playbacks;

/// <summary>
/// A log scope that adds the playback id to every log line of a request. Created before the playback is known, because work started for the request captures
/// the scope. Thread-safe.
/// </summary>
internal sealed class PlaybackScope : IEnumerable<KeyValuePair<string, object?>>
{
    private volatile string? _id;

    /// <summary>Sets the playback of the request.</summary>
    public void Name(string id) => _id = id;

    public IEnumerator<KeyValuePair<string, object?>> GetEnumerator()
    {
        if (_id is { } id)
            yield return new KeyValuePair<string, object?>(LogRing.StreamKey, id);
    }

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
}

/// <summary>A request that reads a file.</summary>
/// <param name="Abort">Aborts the request when its playback is stopped. Callable from any thread.</param>
/// <param name="Scope">The log scope, or null.</param>
internal sealed record PlaybackRequest(PlaybackClient Client, Action Abort, PlaybackScope? Scope)
{
    private static readonly PlaybackRequest OfNone = new(new PlaybackClient("", ""), static () => { }, null);

    /// <summary>The name that the client logged in with; empty if unknown.</summary>
    public string Login { get; init; } = "";

    /// <summary>Creates the request of an HTTP context, after the trusted proxies middleware. Null means that the server itself reads.</summary>
    public static PlaybackRequest Of(HttpContext? http) =>
        http is null
            ? OfNone
            : new PlaybackRequest(PlaybackClient.Of(http), http.Abort, http.Features.Get<PlaybackScope>()) { Login = http.User.Identity?.Name ?? "" };
}

internal static class PlaybackScopes
{
    /// <summary>Adds the scope around every GET request.</summary>
    public static IApplicationBuilder UsePlaybackScopes(this IApplicationBuilder app)
    {
        var logger = app.ApplicationServices.GetRequiredService<ILoggerFactory>().CreateLogger<PlaybackScope>();
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
