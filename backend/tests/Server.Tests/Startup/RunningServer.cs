using System.Net.Http.Headers;
using System.Text;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Auth;
using Sluice.Server.Tests.Database;

namespace Sluice.Server.Tests.Startup;

/// <summary>The whole server inside the test process, on a free loopback port.</summary>
internal sealed class RunningServer : IAsyncDisposable
{
    public const string Password = "correct-horse-battery";
    public const string ApiKey = "0123456789abcdef0123456789abcdef";

    private RunningServer(WebApplication app, Uri address)
    {
        App = app;
        Address = address;
        Client = new HttpClient { BaseAddress = address };
    }

    public Uri Address { get; }

    /// <summary>A client without credentials.</summary>
    public HttpClient Client { get; }

    public IServiceProvider Services => App.Services;

    public WebApplication App { get; }

    /// <summary>Starts it with credentials known to the test, unless the variables override them.</summary>
    public static async Task<RunningServer> StartAsync(
        TemporaryFolder folder,
        Dictionary<string, string>? variables = null,
        Action<WebApplication>? map = null,
        Action<IServiceCollection>? replace = null)
    {
        var all = new Dictionary<string, string>
        {
            ["CONFIG_PATH"] = folder.Root,
            ["PORT"] = "0",
            ["BIND_ADDRESS"] = "127.0.0.1",
            ["SLUICE_CONFIG__WEBDAV__PASS"] = QuickHash.Of(Password),
            ["SLUICE_CONFIG__API__KEY"] = ApiKey,
        };
        foreach (var (name, value) in variables ?? [])
            all[name] = value;
        var app = Program.Build(new ProcessEnvironment(all), services =>
        {
            MigratedTemplate.AddTo(services, all["CONFIG_PATH"]);
            replace?.Invoke(services);
        });
        map?.Invoke(app);
        await app.StartAsync();
        var address = app.Services.GetRequiredService<IServer>().Features.GetRequiredFeature<IServerAddressesFeature>().Addresses.Single();
        return new RunningServer(app, new Uri(address));
    }

    public static AuthenticationHeaderValue Basic(string user, string password) =>
        new("Basic", Convert.ToBase64String(Encoding.UTF8.GetBytes($"{user}:{password}")));

    public async ValueTask DisposeAsync()
    {
        Client.Dispose();
        await App.StopAsync();
        await App.DisposeAsync();
    }
}
