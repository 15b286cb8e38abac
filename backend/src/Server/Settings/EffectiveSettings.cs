using System.Globalization;

namespace Sluice.Server.Settings;

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

    /// <summary>Value of a boolean.</summary>
    public bool Boolean(string key) => settings[key].Value == "true";

    /// <summary>Value of a number.</summary>
    public int Number(string key) => int.Parse(settings[key].Value, CultureInfo.InvariantCulture);

    /// <summary>Value of a number of seconds.</summary>
    public TimeSpan Seconds(string key) => TimeSpan.FromSeconds(Number(key));

    /// <summary>Entries of a list.</summary>
    public IReadOnlyList<string> List(string key) => SettingText.ReadList(settings[key].Value) ?? [];
}
