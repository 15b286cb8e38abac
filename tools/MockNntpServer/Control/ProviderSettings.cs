using System.Globalization;

namespace Sluice.Tools.MockNntpServer.Control;

/// <summary>Provider settings by the names used on the command line and the control port.</summary>
internal static class ProviderSettings
{
    private static readonly Dictionary<string, Func<MockProvider, string, MockProvider>> Setters = new(StringComparer.Ordinal)
    {
        ["latency"] = (provider, value) => provider with { Latency = TimeSpan.FromMilliseconds(Number(value, 600_000)) },
        ["jitter"] = (provider, value) => provider with { Jitter = TimeSpan.FromMilliseconds(Number(value, 600_000)) },
        ["serial-latency"] = (provider, value) => provider with { SerialLatency = Switch(value) },
        ["max-conns"] = (provider, value) => provider with { MaxConnections = (int)Number(value, 100_000) },
        ["cap-at-login"] = (provider, value) => provider with { CapAtLogin = Switch(value) },
        ["bandwidth"] = (provider, value) => provider with { Bandwidth = BytesPerSecond(value) },
        ["bandwidth-conn"] = (provider, value) => provider with { ConnectionBandwidth = BytesPerSecond(value) },
        ["piece"] = (provider, value) => provider with { Piece = (int)Number(value, 1 << 20) },
        ["coverage"] = (provider, value) => provider with { Coverage = Number(value, 1) },
        ["stall"] = (provider, value) => provider with { Stall = Number(value, 1) },
        ["notice-ms"] = (provider, value) => provider with
        {
            NoticesAfter = value == "end" ? Timeout.InfiniteTimeSpan : TimeSpan.FromMilliseconds(Number(value, 600_000)),
        },
        ["stall-seconds"] = (provider, value) => provider with { StallTime = TimeSpan.FromSeconds(Number(value, 86_400)) },
    };

    public static IEnumerable<string> Names => Setters.Keys;

    public static bool Has(string name) => Setters.ContainsKey(name);

    /// <exception cref="FormatException">The value is invalid for this setting.</exception>
    public static MockProvider Set(MockProvider provider, string name, string value)
    {
        try
        {
            return Setters[name](provider, value);
        }
        catch (FormatException e)
        {
            throw new FormatException($"{name}: {e.Message}", e);
        }
    }

    private static long BytesPerSecond(string value) => (long)(Number(value, 1_000_000) * 125_000);

    private static double Number(string value, double most) =>
        double.TryParse(value, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out var number) && number <= most
            ? number
            : throw new FormatException(string.Create(CultureInfo.InvariantCulture, $"\"{value}\" is no number from 0 to {most}."));

    private static bool Switch(string value) => value switch
    {
        "" or "1" or "true" or "on" => true,
        "0" or "false" or "off" => false,
        _ => throw new FormatException($"\"{value}\" is neither true nor false."),
    };
}
