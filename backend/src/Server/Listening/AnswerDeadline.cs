using Microsoft.AspNetCore.Http.Timeouts;

namespace Sluice.Server.Listening;

/// <summary>Gives every answer a deadline.</summary>
internal static class AnswerDeadlines
{
    /// <summary>Adds it, before anything that answers.</summary>
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
/// The deadline of one answer, from its first byte to its last: a listing that a client takes slowly holds a snapshot of the
/// database. Answers with the content of a file turn it off, because a player may pause for hours (F03).
/// </summary>
/// <remarks>A timer may fire while the answer ends; exactly one of the two counts.</remarks>
internal sealed class AnswerDeadline(HttpContext http, TimeProvider time) : IHttpRequestTimeoutFeature
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    private const int Waiting = 0;
    private const int Running = 1;
    private const int Over = 2;

    private ITimer? _timer;

    // Waiting → Running by Start; Waiting or Running → Over by the first of DisableTimeout and Cut.
    private int _state;

    /// <inheritdoc/>
    public CancellationToken RequestTimeoutToken => http.RequestAborted;

    /// <summary>The first byte is about to leave.</summary>
    public void Start()
    {
        if (Interlocked.CompareExchange(ref _state, Running, Waiting) == Waiting)
            _timer = time.CreateTimer(static deadline => ((AnswerDeadline)deadline!).Cut(), this, Limit, Timeout.InfiniteTimeSpan);
    }

    /// <inheritdoc/>
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
