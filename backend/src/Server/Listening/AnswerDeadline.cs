using Microsoft.AspNetCore.Http.Timeouts;

namespace Sluice.Server.Listening;

internal static class AnswerDeadlines
{
    /// <summary>Adds a deadline to every response. Call before any handler.</summary>
    public static IApplicationBuilder UseAnswerDeadlines(this IApplicationBuilder app)
    {
        var time = app.ApplicationServices.GetRequiredService<TimeProvider>();
        return app.Use((context, next) =>
        {
            var deadline = new AnswerDeadline(context, time);
            context.Features.Set<IHttpRequestTimeoutFeature>(deadline);
            context.Response.OnStarting(static state => Start((AnswerDeadline)state), deadline);
            context.Response.OnCompleted(static state => End((AnswerDeadline)state), deadline);
            return next(context);
        });
    }

    private static Task Start(AnswerDeadline deadline)
    {
        deadline.Start();
        return Task.CompletedTask;
    }

    private static Task End(AnswerDeadline deadline)
    {
        deadline.DisableTimeout();
        return Task.CompletedTask;
    }
}

/// <summary>
/// Limits the time from a response's first byte to its last, because a slow reader of a listing holds a database snapshot. Responses with file content disable
/// the limit, because a player may pause for hours (F03). The timer may race with the end of the response; whichever comes first wins.
/// </summary>
internal sealed class AnswerDeadline(HttpContext http, TimeProvider time) : IHttpRequestTimeoutFeature
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    private const int Waiting = 0;
    private const int Running = 1;
    private const int Over = 2;

    private ITimer? _timer;

    // Start: Waiting → Running. First call to DisableTimeout or Cut: Waiting or Running → Over.
    private int _state;

    public CancellationToken RequestTimeoutToken => http.RequestAborted;

    public void Start()
    {
        if (Interlocked.CompareExchange(ref _state, Running, Waiting) == Waiting)
            _timer = time.CreateTimer(static deadline => ((AnswerDeadline)deadline!).Cut(), this, Limit, Timeout.InfiniteTimeSpan);
    }

    public void DisableTimeout()
    {
        Interlocked.Exchange(ref _state, Over);
        _timer?.Dispose();
    }

    private void Cut()
    {
        if (Interlocked.Exchange(ref _state, Over) == Running)
            http.Abort();
    }
}
