namespace Sluice.Server.Settings;

/// <summary>Receipts of playbacks (<c>receipts.*</c>).</summary>
internal sealed record ReceiptOptions
{
    /// <summary>How long receipts are kept; zero keeps none.</summary>
    public required TimeSpan Retention { get; init; }

    public static ReceiptOptions Read(EffectiveSettings settings) => new() { Retention = TimeSpan.FromDays(settings.Number("receipts.retention-days")) };
}
