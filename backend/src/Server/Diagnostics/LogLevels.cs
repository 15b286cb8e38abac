using Microsoft.Extensions.Options;
using Microsoft.Extensions.Primitives;
using Sluice.Server.Settings;

namespace Sluice.Server.Diagnostics;

/// <summary>Turns <c>general.log-level</c> into the rules of the logging framework, also while running.</summary>
internal sealed class LogLevels(IOptionsMonitor<GeneralOptions> general, SettingsConfiguration settings)
    : IConfigureOptions<LoggerFilterOptions>, IOptionsChangeTokenSource<LoggerFilterOptions>
{
    /// <inheritdoc/>
    public string? Name => Options.DefaultName;

    /// <inheritdoc/>
    public void Configure(LoggerFilterOptions options)
    {
        var level = general.CurrentValue.LogLevel;
        options.MinLevel = level;
        // The framework tells at Information what nobody who operates Sluice would act on.
        options.Rules.Add(new LoggerFilterRule(null, "Microsoft", level <= LogLevel.Debug ? level : Max(level, LogLevel.Warning), null));
    }

    /// <inheritdoc/>
    public IChangeToken GetChangeToken() => settings.GetReloadToken();

    private static LogLevel Max(LogLevel left, LogLevel right) => left > right ? left : right;
}
