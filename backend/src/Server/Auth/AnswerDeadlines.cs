using Microsoft.AspNetCore.Http.Timeouts;

namespace Sluice.Server.Auth;

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
