namespace Sluice.Server.Settings;

/// <summary>How bytes are let out (<c>streaming.*</c>).</summary>
internal sealed record StreamingOptions
{
    /// <summary>Holds a whole part back until its CRC is known.</summary>
    public required bool VerifyBeforeServe { get; init; }

    /// <summary>Takes the values in force.</summary>
    public static StreamingOptions Read(EffectiveSettings settings) => new() { VerifyBeforeServe = settings.Boolean("streaming.verify-before-serve") };
}
