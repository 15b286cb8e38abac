namespace Sluice.Server.Settings;

/// <summary>Delivery of bytes (<c>streaming.*</c>).</summary>
internal sealed record StreamingOptions
{
    /// <summary>Whether to hold a part back until its CRC is verified.</summary>
    public required bool VerifyBeforeServe { get; init; }

    public static StreamingOptions Read(EffectiveSettings settings) => new() { VerifyBeforeServe = settings.Boolean("streaming.verify-before-serve") };
}
