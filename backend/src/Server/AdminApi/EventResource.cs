using System.Buffers;
using System.IO.Pipelines;
using System.Text;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.Http.Timeouts;
using Microsoft.Extensions.Primitives;
using Sluice.Server.Auth;
using Sluice.Server.Events;

namespace Sluice.Server.AdminApi;

/// <summary><c>/api/events</c>: server-sent events (ADM-20 to ADM-23).</summary>
internal static class EventResource
{
    /// <summary>Interval between the comments that keep a connection alive.</summary>
    public static readonly TimeSpan BeatInterval = TimeSpan.FromSeconds(15);

    // Generous, because a page subscribes to three or four topics.
    private const int MaxTopics = 16;
    private const int MaxName = 80;

    public static void MapEvents(this RouteGroupBuilder api) =>
        api.MapGet("/events", WatchAsync).Produces<EventPayloads>(StatusCodes.Status200OK, "text/event-stream").WithName("WatchEvents");

    // topics: names as in ADM-20, separated by commas. since: the last frame's id; a Last-Event-ID header is newer and takes precedence.
    private static async Task<IResult> WatchAsync(
        string topics, string? since, HttpContext http, EventHub hub, AdminStore store, IHostApplicationLifetime lifetime, TimeProvider time,
        CancellationToken cancellationToken)
    {
        if (AdminGate.RefuseOrigin(http, isNeeded: false) is { } sentence)
            return AdminProblem.Of(StatusCodes.Status403Forbidden, "origin-mismatch", sentence);
        string[] names = [.. topics.Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries).Distinct()];
        if (names.Length is 0 or > MaxTopics || !names.All(name => name.Length <= MaxName && hub.Knows(name)))
            return AdminProblem.BadInput("topics", "There is no such topic.");

        var last = http.Request.Headers["Last-Event-ID"].ToString();
        using var watch = await hub.WatchAsync(names, EventPlace.Read(last.Length > 0 ? last : since), cancellationToken);
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, watch.Dropped, lifetime.ApplicationStopping);
        await using var beats = time.CreateTimer(_ => watch.OfferKeepAlive(), null, BeatInterval, BeatInterval);
        using var changes = ChangeToken.OnChange(store.GetChangeToken, watch.OfferKeepAlive);
        Begin(http);
        try
        {
            await SendAsync(http, watch, store, ended.Token);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            // The client has stopped reading, or the server is shutting down. In both cases, the client reconnects.
            if (watch.Dropped.IsCancellationRequested)
                http.Abort();
        }

        return TypedResults.Empty;
    }

    private static void Begin(HttpContext http)
    {
        http.Response.ContentType = "text/event-stream";
        http.Response.Headers["X-Accel-Buffering"] = "no";
        http.Features.Get<IHttpResponseBodyFeature>()?.DisableBuffering();
        http.Features.Get<IHttpRequestTimeoutFeature>()?.DisableTimeout();
    }

    private static async Task SendAsync(HttpContext http, EventWatch watch, AdminStore store, CancellationToken ended)
    {
        var body = http.Response.BodyWriter;
        // Make browsers reconnect after one second, because their default is three.
        Write(body, "retry: 1000\n\n"u8);
        foreach (var (frame, topics) in watch.First)
            Write(body, frame, topics);
        await body.FlushAsync(ended);
        while (await watch.ReadAsync(ended) is { } frame)
        {
            if (!MayStay(http, store))
                return;
            Write(body, frame, watch.Topics);
            if (!watch.HasMore)
                await body.FlushAsync(ended);
        }

        http.Abort();
    }

    /// <summary>Whether the request's session or key is still valid, because it may have ended meanwhile.</summary>
    private static bool MayStay(HttpContext http, AdminStore store) => http.User.FindFirst(AdminDoor.Kind)?.Value == AdminDoor.Session
        ? http.Request.Cookies[AdminDoor.CookieOf(store)] is { } id && store.SessionEnds(id) is not null
        : store.FindKey(http.Request.Headers["X-Api-Key"].ToString()) is not null;

    /// <summary>Writes a frame (WHATWG HTML section 9.2.5). The JSON is on one line, so it needs no other framing.</summary>
    private static void Write(PipeWriter body, EventFrame frame, ulong topics)
    {
        if (frame.Topic.Length == 0)
        {
            Write(body, ": \n\n"u8);
            return;
        }

        Write(body, Encoding.UTF8.GetBytes($"event: {frame.Topic}\nid: {new EventPlace(frame.Seq, topics)}\ndata: "));
        Write(body, frame.Json.Span);
        Write(body, "\n\n"u8);
    }

    private static void Write(PipeWriter body, ReadOnlySpan<byte> bytes) => BuffersExtensions.Write(body, bytes);
}
