using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Startup;
using Xunit;

namespace Sluice.Server.Tests.Diagnostics;

public sealed class LogLevelsTests : IDisposable
{
    private readonly TemporaryFolder _temporary = new();

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Log_level_setting_applies_without_a_restart()
    {
        await using var server = await RunningServer.StartAsync(_temporary);
        var loggers = server.Services.GetRequiredService<ILoggerFactory>();
        var own = loggers.CreateLogger("Sluice.Server.X");
        var framework = loggers.CreateLogger("Microsoft.AspNetCore.X");
        Assert.True(own.IsEnabled(LogLevel.Information));
        Assert.False(own.IsEnabled(LogLevel.Debug));
        Assert.True(framework.IsEnabled(LogLevel.Warning));
        Assert.False(framework.IsEnabled(LogLevel.Information));

        await server.Services.GetRequiredService<SettingsStore>().SaveAsync(
            new Dictionary<string, string?> { ["general.log-level"] = "debug" }, TestContext.Current.CancellationToken);

        Assert.True(own.IsEnabled(LogLevel.Debug));
        Assert.True(framework.IsEnabled(LogLevel.Debug));
    }

    [Fact]
    public async Task Import_report_is_printed_at_every_log_level()
    {
        await using var server = await RunningServer.StartAsync(_temporary);
        var loggers = server.Services.GetRequiredService<ILoggerFactory>();

        await server.Services.GetRequiredService<SettingsStore>().SaveAsync(
            new Dictionary<string, string?> { ["general.log-level"] = "error" }, TestContext.Current.CancellationToken);

        Assert.False(loggers.CreateLogger("Sluice.Server.X").IsEnabled(LogLevel.Warning));
        Assert.True(loggers.CreateLogger<Sluice.Server.FamilyImport.FamilyImportWorker>().IsEnabled(LogLevel.Information));
    }
}
