namespace Sluice.Server.Settings;

internal sealed record HistoryOptions
{
    /// <summary>Age at which archived and failed items are removed; null to keep them forever.</summary>
    public required TimeSpan? Retention { get; init; }

    public static HistoryOptions Read(EffectiveSettings settings)
    {
        var days = settings.Number("database.history-retention-days");
        return new HistoryOptions { Retention = days == 0 ? null : TimeSpan.FromDays(days) };
    }
}
