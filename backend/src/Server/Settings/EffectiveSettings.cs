using System.Globalization;

namespace Sluice.Server.Settings;

/// <summary>Sources of a value. Later ones take precedence (CFG-1).</summary>
internal enum SettingOrigin
{
    Default,

    /// <summary>An environment variable that applies if no value is saved.</summary>
    Fallback,

    Saved,

    Environment,
}

/// <summary>The effective value of a setting.</summary>
/// <param name="Value">The value in canonical form.</param>
/// <param name="Variable">The environment variable if it is the source; otherwise null.</param>
/// <param name="IsLocked">Whether the saved value cannot be decrypted, so that the default applies (CFG-53).</param>
internal sealed record EffectiveSetting(
    SettingDefinition Definition, string Value, SettingOrigin Origin, string? Variable = null, bool IsLocked = false)
{
    /// <summary>Masks a secret, so that logs cannot contain it.</summary>
    public override string ToString() => $"{Definition.Key}={(Definition.Secret ? "********" : Value)} ({Origin})";
}

/// <summary>A snapshot of all effective values, all of them valid.</summary>
internal sealed class EffectiveSettings(IReadOnlyDictionary<string, EffectiveSetting> settings, IReadOnlyList<string> warnings)
{
    /// <summary>One sentence for each value that could not be used as given. Contains no secrets.</summary>
    public IReadOnlyList<string> Warnings => warnings;

    public IEnumerable<EffectiveSetting> All => settings.Values;

    public EffectiveSetting this[string key] => settings[key];

    public string Text(string key) => settings[key].Value;

    /// <summary>Whether the saved value cannot be decrypted (CFG-53).</summary>
    public bool IsLocked(string key) => settings[key].IsLocked;

    public bool Boolean(string key) => settings[key].Value == "true";

    public int Number(string key) => int.Parse(settings[key].Value, CultureInfo.InvariantCulture);

    public TimeSpan Seconds(string key) => TimeSpan.FromSeconds(Number(key));

    public IReadOnlyList<string> List(string key) => SettingText.ReadList(settings[key].Value) ?? [];
}
