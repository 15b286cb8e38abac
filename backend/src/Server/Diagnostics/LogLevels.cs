using Microsoft.Extensions.Options;
using Microsoft.Extensions.Primitives;
using Sluice.Server.Settings;

namespace Sluice.Server.Diagnostics;

/// <summary>Turns <c>general.log-level</c> into the rules of the logging framework, also while running.</summary>
internal sealed class LogLevels(SettingsSource settings)
    : IConfigureOptions<LoggerFilterOptions>, IOptionsChangeTokenSource<LoggerFilterOptions>
{
    // They write request lines with their query, and lines that are none as they came: keys of links, API keys and passwords of
    // archives, also such as no setting knows (S4). RequestLines has a line of our own.
    private static readonly string[] Tellers = ["Microsoft.AspNetCore.Hosting.Diagnostics", "Microsoft.AspNetCore.Server.Kestrel.BadRequests"];

    /// <inheritdoc/>
    public string? Name => Options.DefaultName;

    /// <inheritdoc/>
    public void Configure(LoggerFilterOptions options)
    {
        // Not through the options monitor: the order of its change callback and that of the logger options is undefined.
        var level = GeneralOptions.Read(settings.Current).LogLevel;
        options.MinLevel = level;
        // Messages of the framework at Information are none that an operator would act on.
        options.Rules.Add(new LoggerFilterRule(null, "Microsoft", level <= LogLevel.Debug ? level : Max(level, LogLevel.Warning), null));
        foreach (var category in Tellers)
            options.Rules.Add(new LoggerFilterRule(null, category, Max(level, LogLevel.Warning), null));
    }

    /// <inheritdoc/>
    public IChangeToken GetChangeToken() => settings.GetChangeToken();

    private static LogLevel Max(LogLevel left, LogLevel right) => left > right ? left : right;
}
