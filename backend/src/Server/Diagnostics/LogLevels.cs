using Microsoft.Extensions.Options;
using Microsoft.Extensions.Primitives;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Diagnostics;

/// <summary>
/// Turns <c>general.log-level</c> into the rules of the logging framework, also while running, and another level for a while.
/// </summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class LogLevels(SettingsSource settings, TimeProvider time)
    : IConfigureOptions<LoggerFilterOptions>, IOptionsChangeTokenSource<LoggerFilterOptions>, IDisposable
{
    /// <summary>How long another level lasts: long enough to see a fault again, and no disk fills meanwhile.</summary>
    public static readonly TimeSpan ForAWhile = TimeSpan.FromMinutes(15);

    // They write request lines with their query, and lines that are none as they came: keys of links, API keys and passwords of
    // archives, also such as no setting knows (S4). RequestLines has a line of our own.
    private static readonly string[] Tellers = ["Microsoft.AspNetCore.Hosting.Diagnostics", "Microsoft.AspNetCore.Server.Kestrel.BadRequests"];

    // Guards the three fields below; nothing is taken under it.
    private readonly Lock _gate = new();
    private (LogLevel Level, DateTimeOffset Until)? _other;
    private ITimer? _timer;
    private ConfigurationReloadToken _change = new();

    /// <summary>The level in force, and until when, where it is another one than that of the settings.</summary>
    public (LogLevel Level, DateTimeOffset? Until) Current
    {
        get
        {
            lock (_gate)
                return _other is var (level, until) ? (level, until) : (GeneralOptions.Read(settings.Current).LogLevel, null);
        }
    }

    /// <summary>Puts another level in force for a while.</summary>
    /// <param name="level">The level; null to go back to that of the settings at once.</param>
    public void Use(LogLevel? level)
    {
        lock (_gate)
        {
            _timer?.Dispose();
            _timer = level is null ? null : time.CreateTimer(_ => Use(null), null, ForAWhile, Timeout.InfiniteTimeSpan);
            _other = level is { } other ? (other, time.WallTime() + ForAWhile) : null;
        }

        Interlocked.Exchange(ref _change, new ConfigurationReloadToken()).OnReload();
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        lock (_gate)
            _timer?.Dispose();
    }

    /// <inheritdoc/>
    public string? Name => Options.DefaultName;

    /// <inheritdoc/>
    public void Configure(LoggerFilterOptions options)
    {
        // Not through the options monitor: the order of its change callback and that of the logger options is undefined.
        var level = Current.Level;
        options.MinLevel = level;
        // Messages of the framework at Information are none that an operator would act on.
        options.Rules.Add(new LoggerFilterRule(null, "Microsoft", level <= LogLevel.Debug ? level : Max(level, LogLevel.Warning), null));
        foreach (var category in Tellers)
            options.Rules.Add(new LoggerFilterRule(null, category, Max(level, LogLevel.Warning), null));
    }

    /// <inheritdoc/>
    public IChangeToken GetChangeToken() => new CompositeChangeToken([settings.GetChangeToken(), Volatile.Read(ref _change)]);

    private static LogLevel Max(LogLevel left, LogLevel right) => left > right ? left : right;
}
