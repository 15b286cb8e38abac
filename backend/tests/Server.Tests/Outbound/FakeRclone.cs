using System.Text.Json;
using System.Threading.Channels;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;

namespace Sluice.Server.Tests.Outbound;

/// <summary>A call to the remote control of rclone.</summary>
/// <param name="Target">Method and path.</param>
/// <param name="Authorization">The header, or empty.</param>
/// <param name="Folders">Values of the members whose names start with <c>dir</c>.</param>
internal sealed record RcloneCall(string Target, string Authorization, string[] Folders);

/// <summary>The remote control of rclone, which records its calls.</summary>
internal sealed class FakeRclone : IAsyncDisposable
{
    private readonly WebApplication _app;
    private readonly Channel<RcloneCall> _calls = Channel.CreateUnbounded<RcloneCall>();

    private FakeRclone(WebApplication app) => _app = app;

    /// <summary>Status of the next responses.</summary>
    public int Status { get; set; } = StatusCodes.Status200OK;

    /// <summary>Responses wait for this task.</summary>
    public Task Gate { get; set; } = Task.CompletedTask;

    public string Address => _app.Urls.First();

    /// <summary>Number of received calls that have not been read.</summary>
    public int Waiting => _calls.Reader.Count;

    public static async Task<FakeRclone> StartAsync()
    {
        var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.WebHost.UseKestrelCore().UseUrls("http://127.0.0.1:0");
        var app = builder.Build();
        var fake = new FakeRclone(app);
        app.Run(fake.AnswerAsync);
        await app.StartAsync();
        return fake;
    }

    /// <summary>Waits for the next call.</summary>
    public ValueTask<RcloneCall> NextAsync(CancellationToken cancellationToken) => _calls.Reader.ReadAsync(cancellationToken);

    public async ValueTask DisposeAsync()
    {
        await _app.StopAsync(new CancellationToken(canceled: true));
        await _app.DisposeAsync();
    }

    private async Task AnswerAsync(HttpContext context)
    {
        var body = await JsonSerializer.DeserializeAsync<Dictionary<string, string>>(context.Request.Body, cancellationToken: context.RequestAborted);
        var (status, gate) = (Status, Gate);
        _calls.Writer.TryWrite(new RcloneCall(
            $"{context.Request.Method} {context.Request.Path}",
            context.Request.Headers.Authorization.ToString(),
            [.. body!.Where(member => member.Key.StartsWith("dir", StringComparison.Ordinal)).Select(member => member.Value)]));
        await gate.WaitAsync(context.RequestAborted);
        context.Response.StatusCode = status;
        if (status is >= 300 and < 400)
            context.Response.Headers.Location = $"{Address}/elsewhere";
        await context.Response.WriteAsync("""{"forgotten":[]}""", context.RequestAborted);
    }
}
