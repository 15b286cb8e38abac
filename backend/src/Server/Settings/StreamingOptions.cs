namespace Sluice.Server.Settings;

/// <summary>How bytes are delivered (<c>streaming.*</c>).</summary>
internal sealed record StreamingOptions
{
    /// <summary>Whether a decoded part is held back until its CRC is verified.</summary>
    public required bool VerifyBeforeServe { get; init; }

    public static StreamingOptions Read(EffectiveSettings settings) => new() { VerifyBeforeServe = settings.Boolean("streaming.verify-before-serve") };
}
