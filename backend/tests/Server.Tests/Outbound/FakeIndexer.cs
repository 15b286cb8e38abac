using System.Collections.Concurrent;
using System.Text;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;

namespace Sluice.Server.Tests.Outbound;

/// <summary>A local host that serves NZBs.</summary>
internal sealed class FakeIndexer : IAsyncDisposable
{
    private readonly WebApplication _app;

    private FakeIndexer(WebApplication app) => _app = app;

    /// <summary>Handles each request.</summary>
    public Func<HttpContext, Task> Answer { get; set; } = _ => Task.CompletedTask;

    /// <summary>Host, path and query of each request.</summary>
    public ConcurrentQueue<string> Requests { get; } = new();

    public int Port => new Uri(_app.Urls.First()).Port;

    public static async Task<FakeIndexer> StartAsync(Func<HttpContext, Task>? answer = null)
    {
        var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        // UTF-8 in headers, like hosts that do not know RFC 5987.
        builder.WebHost.UseKestrelCore().ConfigureKestrel(options => options.ResponseHeaderEncodingSelector = _ => Encoding.UTF8).UseUrls("http://127.0.0.1:0");
        var app = builder.Build();
        var fake = new FakeIndexer(app);
        if (answer is not null)
            fake.Answer = answer;
        app.Run(context =>
        {
            fake.Requests.Enqueue($"{context.Request.Host.Host}{context.Request.Path}{context.Request.QueryString}");
            return fake.Answer(context);
        });
        await app.StartAsync();
        return fake;
    }

    /// <summary>Returns a handler that sends a body, with a Content-Disposition if there is one.</summary>
    public static Func<HttpContext, Task> Give(byte[] body, string? disposition = null) => async context =>
    {
        if (disposition is not null)
            context.Response.Headers.ContentDisposition = disposition;
        await context.Response.Body.WriteAsync(body, context.RequestAborted);
    };

    /// <summary>Returns a handler that sends a status without a body.</summary>
    public static Func<HttpContext, Task> Say(int status, string? retryAfter = null) => context =>
    {
        context.Response.StatusCode = status;
        if (retryAfter is not null)
            context.Response.Headers.RetryAfter = retryAfter;
        return context.Response.WriteAsync("no", context.RequestAborted);
    };

    public async ValueTask DisposeAsync()
    {
        await _app.StopAsync(new CancellationToken(canceled: true));
        await _app.DisposeAsync();
    }
}
