namespace Sluice.Server.Settings;

/// <summary>The endpoint for Prometheus (<c>metrics.*</c>).</summary>
internal sealed record MetricsOptions
{
    /// <summary>Whether <c>/metrics</c> needs a named key.</summary>
    public required bool RequiresKey { get; init; }

    public static MetricsOptions Read(EffectiveSettings settings) => new() { RequiresKey = settings.Boolean("metrics.require-api-key") };
}
