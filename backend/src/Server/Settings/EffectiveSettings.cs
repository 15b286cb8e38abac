using System.Globalization;

namespace Sluice.Server.Settings;

/// <summary>Where a value comes from; later ones win (CFG-1).</summary>
internal enum SettingOrigin
{
    /// <summary>The default.</summary>
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
/// <param name="IsLocked">Whether there is a saved value whose key is not here, so that the default stands in its place (CFG-53).</param>
internal sealed record EffectiveSetting(
    SettingDefinition Definition, string Value, SettingOrigin Origin, string? Variable = null, bool IsLocked = false)
{
    /// <summary>Key, value and origin; the value of a secret is masked.</summary>
    public override string ToString() => $"{Definition.Key}={(Definition.Secret ? "********" : Value)} ({Origin})";
}

/// <summary>All values in force at a moment, each valid.</summary>
/// <remarks>Immutable.</remarks>
internal sealed class EffectiveSettings(IReadOnlyDictionary<string, EffectiveSetting> settings, IReadOnlyList<string> warnings)
{
    /// <summary>One sentence per value that could not be used as it was given; never a secret value.</summary>
    public IReadOnlyList<string> Warnings => warnings;

    /// <summary>Every setting of the schema.</summary>
    public IEnumerable<EffectiveSetting> All => settings.Values;

    /// <summary>One setting of the schema.</summary>
    public EffectiveSetting this[string key] => settings[key];

    /// <summary>Value as text.</summary>
    public string Text(string key) => settings[key].Value;

    /// <summary>Whether a saved value is locked (CFG-53).</summary>
    public bool IsLocked(string key) => settings[key].IsLocked;

    /// <summary>Value of a boolean.</summary>
    public bool Boolean(string key) => settings[key].Value == "true";

    /// <summary>Value of a number.</summary>
    public int Number(string key) => int.Parse(settings[key].Value, CultureInfo.InvariantCulture);

    /// <summary>Value of a number of seconds.</summary>
    public TimeSpan Seconds(string key) => TimeSpan.FromSeconds(Number(key));

    /// <summary>Entries of a list.</summary>
    public IReadOnlyList<string> List(string key) => SettingText.ReadList(settings[key].Value) ?? [];
}
