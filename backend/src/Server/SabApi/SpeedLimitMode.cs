using System.Globalization;
using Sluice.Server.Providers;
using Sluice.Server.Settings;

namespace Sluice.Server.SabApi;

/// <summary>
/// <c>mode=speedlimit</c>, and the same as <c>config&amp;name=speedlimit</c>: sets its own limit next to the configured one.
/// </summary>
internal sealed class SpeedLimitMode(SettingsStore settings, BandwidthLimit bandwidth, ILogger<SpeedLimitMode> logger) : ISabMode
{
    private const string Key = "queue.speed-limit-kbps";

    public string Name => "speedlimit";

    public async Task AnswerAsync(SabCall call)
    {
        var limit = SpeedLimit.Read(call.Parameters.Text("value"));
        if (limit is null)
            SabApiLog.NoSpeedLimit(logger);
        else if (limit.KibibytesOf(bandwidth.Configured) is not { } kibibytes)
            SabApiLog.NothingToLimit(logger);
        else
            await settings.SaveAsync(
                new Dictionary<string, string?> { [Key] = kibibytes == 0 ? null : kibibytes.ToString(CultureInfo.InvariantCulture) }, call.Cancelled);
        await SabAnswer.StatusAsync(call, true);
    }
}

/// <summary>A speed limit in SABnzbd's syntax: <c>30</c> or <c>30%</c> of the configured limit, <c>400K</c> or <c>4M</c> per second.</summary>
/// <param name="Value">Percent, or bytes per second; 0 for no limit.</param>
internal sealed record SpeedLimit(double Value, bool IsPercent)
{
    // Maximum of queue.speed-limit-kbps.
    private const long MostKibibytes = 12_500_000;

    private const double Everything = 100;
    private const string Units = "KMGT";

    /// <summary>Parses a limit. A bare number up to 100 is a percentage, a larger one bytes per second.</summary>
    /// <returns>Null if invalid.</returns>
    public static SpeedLimit? Read(string text)
    {
        text = text.Trim();
        if (text.Length == 0)
            return new SpeedLimit(0, IsPercent: false);
        var isPercent = text.EndsWith('%');
        var unit = isPercent ? -1 : Units.IndexOf(char.ToUpperInvariant(text[^1]), StringComparison.Ordinal);
        var digits = isPercent || unit >= 0 ? text[..^1].TrimEnd() : text;
        if (!double.TryParse(digits, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out var number) || !double.IsFinite(number))
            return null;
        return isPercent || (unit < 0 && number is > 0 and <= Everything)
            ? new SpeedLimit(number, IsPercent: number > 0)
            : new SpeedLimit(number * Math.Pow(1024, unit + 1), IsPercent: false);
    }

    /// <summary>The current limit in percent of the configured one; 100 if either is unlimited.</summary>
    public static long Percent(long current, long configured) =>
        current == 0 || configured == 0 ? (long)Everything : (long)Math.Clamp(Math.Round(Everything * current / configured), 1, Everything);

    /// <summary>The limit in KiB per second; 0 for none.</summary>
    /// <param name="configured">Base of a percentage in bytes per second; 0 for none.</param>
    /// <returns>Null for a percentage without a base.</returns>
    public long? KibibytesOf(long configured)
    {
        if (Value == 0)
            return 0;
        if (!IsPercent)
            return (long)Math.Clamp(Value / 1024, 1, MostKibibytes);
        if (configured == 0)
            return null;
        return Value >= Everything ? 0 : (long)Math.Clamp(configured * (Value / Everything) / 1024, 1, MostKibibytes);
    }
}
