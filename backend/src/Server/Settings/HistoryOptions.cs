namespace Sluice.Server.Settings;

/// <summary>How long the history is kept (<c>database.history-*</c>).</summary>
internal sealed record HistoryOptions
{
    /// <summary>Age at which archived and failed items leave it; null: never.</summary>
    public required TimeSpan? Retention { get; init; }

    /// <summary>Takes the values in force.</summary>
    public static HistoryOptions Read(EffectiveSettings settings)
    {
        var days = settings.Number("database.history-retention-days");
        return new HistoryOptions { Retention = days == 0 ? null : TimeSpan.FromDays(days) };
    }
}
