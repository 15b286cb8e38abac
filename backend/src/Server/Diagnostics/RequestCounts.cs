using System.Collections.Concurrent;
using System.Globalization;

namespace Sluice.Server.Diagnostics;

/// <summary>Counts requests by part of the server, method and status.</summary>
/// <remarks>Thread-safe. Counting a request allocates nothing, except for the first of its kind.</remarks>
internal sealed class RequestCounts
{
    // Methods and statuses come from clients and code, so the number of combinations is limited.
    private const int MostKinds = 300;
    private const string OtherMethod = "other";

    private static readonly HashSet<string> Methods =
    [
        "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PROPFIND", "PROPPATCH", "MKCOL", "MOVE", "COPY", "LOCK", "UNLOCK",
    ];

    private readonly ConcurrentDictionary<RequestKind, RequestCount> _counts = new();

    public void Add(string edge, string method, int status)
    {
        var kind = new RequestKind(edge, Methods.Contains(method) ? method : OtherMethod, status);
        if (!_counts.TryGetValue(kind, out var count))
            count = _counts.GetOrAdd(_counts.Count < MostKinds ? kind : new RequestKind(edge, OtherMethod, 0), static _ => new RequestCount());
        count.Add();
    }

    public ValueTask WriteAsync(MetricsWriter to, CancellationToken cancellationToken)
    {
        to.Counter("sluice_http_requests_total", "Requests answered, by edge, method and status.");
        foreach (var (kind, count) in _counts.OrderBy(static pair => (pair.Key.Edge, pair.Key.Method, pair.Key.Status)))
            to.Sample(count.Value, ("edge", kind.Edge), ("method", kind.Method), ("status", kind.Status.ToString(CultureInfo.InvariantCulture)));
        return ValueTask.CompletedTask;
    }

    private readonly record struct RequestKind(string Edge, string Method, int Status);

    private sealed class RequestCount
    {
        private long _value;

        public long Value => Volatile.Read(ref _value);

        public void Add() => Interlocked.Increment(ref _value);
    }
}

internal static class RequestCounting
{
    /// <summary>Counts each request when its response ends.</summary>
    /// <param name="edgeOf">Returns a fixed label for the part of the server that responded.</param>
    public static IApplicationBuilder UseRequestCounts(this IApplicationBuilder app, Func<HttpContext, string> edgeOf)
    {
        var counts = app.ApplicationServices.GetRequiredService<RequestCounts>();
        return app.Use(async (context, next) =>
        {
            try
            {
                await next(context);
            }
            finally
            {
                counts.Add(edgeOf(context), context.Request.Method, context.Response.StatusCode);
            }
        });
    }
}
