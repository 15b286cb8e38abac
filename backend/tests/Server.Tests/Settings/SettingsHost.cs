using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;

namespace Sluice.Server.Tests.Settings;

/// <summary>The settings as assembled by the server, over a folder of the test and without the rest of the server.</summary>
internal sealed class SettingsHost : IAsyncDisposable
{
    private readonly IHost _host;

    public SettingsHost(TemporaryFolder folder, params (string Name, string Value)[] variables)
    {
        var environment = new ProcessEnvironment(variables.ToDictionary(variable => variable.Name, variable => variable.Value));
        var builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Services.AddLogging().AddSingleton(TimeProvider.System).AddDatabase(folder.Folder);
        builder.Services.AddSettings(environment, ProcessOptions.Read(environment));
        _host = builder.Build();
        _host.Services.GetRequiredService<SluiceDatabase>().Open();
    }

    public SettingsStore Store => _host.Services.GetRequiredService<SettingsStore>();

    public SettingsTrial Trial => _host.Services.GetRequiredService<SettingsTrial>();

    public SluiceDatabase Database => _host.Services.GetRequiredService<SluiceDatabase>();

    public EffectiveSettings Current => _host.Services.GetRequiredService<SettingsSource>().Current;

    public IOptionsMonitor<T> Monitor<T>() => _host.Services.GetRequiredService<IOptionsMonitor<T>>();

    public IEnumerable<KeyValuePair<string, string?>> Configuration => _host.Services.GetRequiredService<IConfiguration>().AsEnumerable();

    public ValueTask DisposeAsync() => ((IAsyncDisposable)_host).DisposeAsync();
}
