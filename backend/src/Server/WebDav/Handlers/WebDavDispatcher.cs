using System.Collections.Frozen;
using Microsoft.AspNetCore.Http.Features;
using Sluice.Server.WebDav.Xml;

namespace Sluice.Server.WebDav.Handlers;

/// <summary>
/// Parses the path, finds the item, checks the verb table and calls the handler. Maps store exceptions to statuses. Once the headers are sent, resets the
/// connection instead, so that a truncated body never looks complete.
/// </summary>
internal sealed class WebDavDispatcher
{
    private readonly IStore _store;
    private readonly FrozenDictionary<string, IRequestHandler> _handlers;
    private readonly RefusalLog _refusals;
    private readonly ILogger<WebDavDispatcher> _log;

    /// <summary>Creates the dispatcher. Throws unless every verb in the table has exactly one handler.</summary>
    public WebDavDispatcher(IStore store, IEnumerable<IRequestHandler> handlers, RefusalLog refusals, ILogger<WebDavDispatcher> log)
    {
        _store = store;
        _handlers = handlers
            .SelectMany(handler => handler.Verbs, (handler, verb) => KeyValuePair.Create(verb, handler))
            .ToDictionary(StringComparer.Ordinal)
            .ToFrozenDictionary(StringComparer.Ordinal);
        foreach (var row in store.Classes)
        {
            if (row.Handled.FirstOrDefault(verb => !_handlers.ContainsKey(verb)) is { } orphan)
                throw new InvalidOperationException($"No handler for {orphan}, which {row.Name} lists.");
        }

        _refusals = refusals;
        _log = log;
    }

    public Task DispatchAsync(HttpContext http) => GuardAsync(http, AnswerAsync);

    /// <summary>Runs another endpoint and maps its exceptions to responses in the same way.</summary>
    public async Task GuardAsync(HttpContext http, Func<HttpContext, Task> answer)
    {
        try
        {
            await answer(http);
        }
        catch (OperationCanceledException) when (http.RequestAborted.IsCancellationRequested)
        {
            // The client has disconnected.
        }
        catch (Exception cause) when (http.Response.HasStarted)
        {
            WebDavLog.Failed(_log, http.Request.Method, cause);
            http.Abort();
        }
        catch (DavXmlException malformed)
        {
            Refuse(http, malformed.Status);
        }
        catch (StoreUnavailableException unavailable)
        {
            WebDavLog.StoreUnavailable(_log, unavailable.Message, unavailable);
            http.Response.Headers.RetryAfter = "30";
            http.Response.Headers.CacheControl = "no-store";
            Refusal.Write(http.Response, StatusCodes.Status503ServiceUnavailable);
        }
        catch (BadHttpRequestException bad)
        {
            Refuse(http, bad.StatusCode);
        }

        var status = http.Response.StatusCode;
        if (status is >= 400 and < 500)
            _refusals.Note(http, Target(http).Split('?')[0], status); // without the query, because it may contain a link's key
    }

    private async Task AnswerAsync(HttpContext http)
    {
        var target = Target(http);
        if (target == "*")
            target = http.Request.PathBase.Value + "/";
        if (!DavPath.TryParse(target, http.Request.PathBase.Value ?? "", out var path))
        {
            Refuse(http, StatusCodes.Status400BadRequest);
            return;
        }

        var item = await _store.FindAsync(path, http.RequestAborted);
        var verb = http.Request.Method;
        if (item is IStoreFile && path.HasTrailingSlash && !PathClass.NeedsFreeName(verb))
            item = null;
        if (item is { IsHidden: true } && http.Request.Method != Verbs.Delete)
            item = null;
        if (_store.Classify(path, item) is not { } row)
        {
            Refuse(http, StatusCodes.Status404NotFound);
            return;
        }

        var answer = row[verb];
        if (item is null && PathClass.NeedsItem(verb))
        {
            Refuse(http, StatusCodes.Status404NotFound);
        }
        else if (answer == VerbAnswer.NotAllowed || (item is not null && PathClass.NeedsFreeName(verb)))
        {
            http.Response.Headers.Allow = item is null ? row.AllowUnmapped : row.Allow;
            Refuse(http, StatusCodes.Status405MethodNotAllowed);
        }
        else if (answer == VerbAnswer.Forbidden)
        {
            Refuse(http, StatusCodes.Status403Forbidden);
        }
        else
        {
            await _handlers[verb].HandleAsync(new DavRequest(http, path, row, item));
        }
    }

    private static string Target(HttpContext http) => http.Features.GetRequiredFeature<IHttpRequestFeature>().RawTarget;

    private static void Refuse(HttpContext http, int status) => Refusal.Write(http.Response, status);
}
