using Microsoft.Extensions.Options;
using Microsoft.Extensions.Primitives;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Diagnostics;

/// <summary>Applies <c>general.log-level</c>, or a temporary level, to the logging framework at run time.</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class LogLevels(SettingsSource settings, TimeProvider time)
    : IConfigureOptions<LoggerFilterOptions>, IOptionsChangeTokenSource<LoggerFilterOptions>, IDisposable
{
    /// <summary>Duration of a temporary level: long enough to reproduce a fault, and short enough not to fill a disk.</summary>
    public static readonly TimeSpan TemporaryDuration = TimeSpan.FromMinutes(15);

    // These loggers write request lines with their query, or malformed lines verbatim. Both contain link keys, API keys and archive passwords that the redactor
    // may not know (S4). RequestLines logs requests safely instead.
    private static readonly string[] LeakingLoggers = ["Microsoft.AspNetCore.Hosting.Diagnostics", "Microsoft.AspNetCore.Server.Kestrel.BadRequests"];

    // Always print the import report, because users copy LOG_LEVEL from the old server and would miss the list of skipped items.
    private const string ReportingLogger = "Sluice.Server.FamilyImport";

    // Guards the three fields below. No other lock is acquired while holding it.
    private readonly Lock _gate = new();
    private (LogLevel Level, DateTimeOffset Until)? _temporary;
    private ITimer? _timer;
    private ConfigurationReloadToken _change = new();

    /// <summary>The effective level. If it is temporary, also when it ends.</summary>
    public (LogLevel Level, DateTimeOffset? Until) Current
    {
        get
        {
            lock (_gate)
                return _temporary is var (level, until) ? (level, until) : (GeneralOptions.Read(settings.Current).LogLevel, null);
        }
    }

    /// <summary>Applies a temporary level. Null returns to the configured level immediately.</summary>
    public void Use(LogLevel? level)
    {
        lock (_gate)
        {
            _timer?.Dispose();
            _timer = level is null ? null : time.CreateTimer(_ => Use(null), null, TemporaryDuration, Timeout.InfiniteTimeSpan);
            _temporary = level is { } other ? (other, time.WallTime() + TemporaryDuration) : null;
        }

        Interlocked.Exchange(ref _change, new ConfigurationReloadToken()).OnReload();
    }

    public void Dispose()
    {
        lock (_gate)
            _timer?.Dispose();
    }

    public string? Name => Options.DefaultName;

    public void Configure(LoggerFilterOptions options)
    {
        // Read the settings directly, because the options monitor may notify the logger options before it notifies this class.
        var level = Current.Level;
        options.MinLevel = level;
        // The framework's Information messages do not help an operator.
        options.Rules.Add(new LoggerFilterRule(null, "Microsoft", level <= LogLevel.Debug ? level : Max(level, LogLevel.Warning), null));
        foreach (var category in LeakingLoggers)
            options.Rules.Add(new LoggerFilterRule(null, category, Max(level, LogLevel.Warning), null));
        options.Rules.Add(new LoggerFilterRule(null, ReportingLogger, level < LogLevel.Information ? level : LogLevel.Information, null));
    }

    public IChangeToken GetChangeToken() => new CompositeChangeToken([settings.GetChangeToken(), Volatile.Read(ref _change)]);

    private static LogLevel Max(LogLevel left, LogLevel right) => left > right ? left : right;
}
