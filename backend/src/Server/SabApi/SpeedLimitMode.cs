using System.Globalization;
using Sluice.Server.Providers;
using Sluice.Server.Settings;

namespace Sluice.Server.SabApi;

/// <summary><c>mode=speedlimit</c> and <c>config&amp;name=speedlimit</c>: set a speed limit separate from the configured one.</summary>
internal sealed class SpeedLimitMode(SettingsStore settings, BandwidthLimit bandwidth, ILogger<SpeedLimitMode> logger) : ISabMode
{
    private const string Key = "queue.speed-limit-kbps";
    private const string PercentKey = "queue.speed-limit-percent";

    public string Name => "speedlimit";

    public async Task AnswerAsync(SabCall call)
    {
        if (SpeedLimit.Read(call.Parameters.Text("value")) is not { } limit)
        {
            SabApiLog.NoSpeedLimit(logger);
        }
        else
        {
            // A percentage has no effect unless a limit is configured. Store it anyway, because sliders such as Home Assistant's read it back.
            var kibibytes = limit.KibibytesOf(bandwidth.Configured);
            var percent = kibibytes is null ? SpeedLimit.Shown(limit.Value) : SpeedLimit.All;
            await settings.SaveAsync(
                new Dictionary<string, string?>
                {
                    [Key] = kibibytes is null or 0 ? null : kibibytes.Value.ToString(CultureInfo.InvariantCulture),
                    [PercentKey] = percent == SpeedLimit.All ? null : percent.ToString(CultureInfo.InvariantCulture),
                },
                call.Cancelled);
        }

        await SabAnswer.StatusAsync(call, true);
    }
}

/// <summary>A speed limit in SABnzbd's syntax: <c>30</c> or <c>30%</c> of the configured limit, or <c>400K</c> or <c>4M</c> per second.</summary>
/// <param name="Value">Percentage, or bytes per second; 0 if unlimited.</param>
internal sealed record SpeedLimit(double Value, bool IsPercent)
{
    /// <summary>The percentage that stands for no limit.</summary>
    public const long All = 100;

    // Maximum of queue.speed-limit-kbps.
    private const long MostKibibytes = 12_500_000;

    private const string Units = "KMGT";

    /// <summary>Parses a limit; null if invalid. A bare number up to 100 is a percentage; a larger number is bytes per second.</summary>
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
        return isPercent || (unit < 0 && number is > 0 and <= All)
            ? new SpeedLimit(number, IsPercent: number > 0)
            : new SpeedLimit(number * Math.Pow(1024, unit + 1), IsPercent: false);
    }

    /// <summary>Returns the current limit as a percentage of the configured limit; 100 if either is unlimited.</summary>
    public static long Percent(long current, long configured) => current == 0 || configured == 0 ? All : Shown((double)All * current / configured);

    /// <summary>Rounds a percentage to an integer from 1 to 100.</summary>
    public static long Shown(double percent) => (long)Math.Clamp(Math.Round(percent), 1, All);

    /// <summary>Returns the limit in KiB per second. 0 if unlimited; null for a percentage if no limit is configured.</summary>
    /// <param name="configured">The configured limit in bytes per second; 0 if unlimited.</param>
    public long? KibibytesOf(long configured)
    {
        if (Value == 0)
            return 0;
        if (!IsPercent)
            return (long)Math.Clamp(Value / 1024, 1, MostKibibytes);
        if (configured == 0)
            return null;
        return Value >= All ? 0 : (long)Math.Clamp(configured * (Value / All) / 1024, 1, MostKibibytes);
    }
}
