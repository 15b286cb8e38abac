namespace Sluice.Server.Settings;

/// <summary>Where a value comes from; later ones win (CFG-1).</summary>
internal enum SettingOrigin
{
    /// <summary>Nobody set it.</summary>
    Default,

    /// <summary>A variable that counts when nothing is saved.</summary>
    Fallback,

    /// <summary>The database.</summary>
    Saved,

    /// <summary>An override in the environment.</summary>
    Environment,
}

/// <summary>The value in force.</summary>
/// <param name="Definition">The setting.</param>
/// <param name="Value">In canonical form.</param>
/// <param name="Origin">Where it comes from.</param>
/// <param name="Variable">The environment variable, if it comes from one.</param>
internal sealed record EffectiveSetting(SettingDefinition Definition, string Value, SettingOrigin Origin, string? Variable = null)
{
    /// <summary>Key, value and origin; the value of a secret is masked.</summary>
    public override string ToString() => $"{Definition.Key}={(Definition.Secret ? "********" : Value)} ({Origin})";
}
