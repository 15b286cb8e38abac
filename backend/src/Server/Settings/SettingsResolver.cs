namespace Sluice.Server.Settings;

/// <summary>
/// Resolves every setting from the first source that has a value: override, saved value, fallback variable, default (CFG-1). An invalid value is replaced and
/// adds a warning, because it must not prevent startup (CFG-10).
/// </summary>
internal sealed class SettingsResolver(IReadOnlyList<SettingDefinition> schema, ProcessEnvironment environment)
{
    private const string Prefix = "SLUICE_CONFIG__";
    private const string FamilyPrefix = "NZBDAV_CONFIG__";

    /// <summary>Returns the overriding variable's name (CFG-2) without the prefix.</summary>
    public static string OverrideRest(string key) =>
        key.Replace('-', '_').Replace(".", "__", StringComparison.Ordinal).ToUpperInvariant();

    public static string OverrideName(string key) => Prefix + OverrideRest(key);

    /// <summary>Resolves all settings. Settings in <paramref name="locked"/> cannot be decrypted, so only an override replaces their values (CFG-53).</summary>
    public EffectiveSettings Resolve(IReadOnlyDictionary<string, string> saved, IReadOnlySet<string>? locked = null)
    {
        var warnings = new List<string>();
        var effective = schema.ToDictionary(definition => definition.Key, definition => Resolve(definition, saved, locked, warnings));
        WarnAboutUnknownOverrides(warnings);
        return new EffectiveSettings(effective, [.. environment.Warnings, .. warnings]);
    }

    private EffectiveSetting Resolve(
        SettingDefinition definition, IReadOnlyDictionary<string, string> saved, IReadOnlySet<string>? locked, List<string> warnings)
    {
        if (Override(definition, warnings) is var (variable, given) && variable is not null
            && Judge(definition, given, SettingOrigin.Environment, variable, warnings) is { } overriding)
            return overriding;

        foreach (var (key, alias) in Names(definition))
        {
            if (locked?.Contains(key) == true)
                return new EffectiveSetting(definition, definition.Default, SettingOrigin.Saved, IsLocked: true);
            if (saved.TryGetValue(key, out var value) && Convert(alias, value) is { } text
                && Judge(definition, text, SettingOrigin.Saved, null, warnings) is { } kept)
                return kept;
        }

        foreach (var fallback in definition.Fallbacks)
        {
            if (environment.Get(fallback.Name) is { } value && fallback.Convert(value) is { } text
                && Judge(definition, text, SettingOrigin.Fallback, fallback.Name, warnings) is { } standing)
                return standing;
        }

        return new EffectiveSetting(definition, definition.Default, SettingOrigin.Default);
    }

    private (string? Variable, string Text) Override(SettingDefinition definition, List<string> warnings)
    {
        (string? Variable, string Text) found = (null, "");
        foreach (var (key, alias) in Names(definition))
        {
            foreach (var prefix in (ReadOnlySpan<string>)[Prefix, FamilyPrefix])
            {
                var name = prefix + OverrideRest(key);
                if (environment.Get(name) is not { } value || Convert(alias, value) is not { } text)
                    continue;

                if (found.Variable is null)
                    found = (name, text);
                else
                    warnings.Add($"{name} is ignored, because {found.Variable} sets {definition.Key}");
            }
        }

        return found;
    }

    /// <summary>Returns null if the alias has no value for this setting.</summary>
    private static string? Convert(SettingAlias? alias, string value) => alias is null ? value : alias.Convert(value);

    private static IEnumerable<(string Key, SettingAlias? Alias)> Names(SettingDefinition definition) =>
        definition.Aliases.Select(alias => (alias.Name, (SettingAlias?)alias)).Prepend((definition.Key, null));

    /// <summary>
    /// Returns the value if valid, otherwise the nearest allowed value or the default. Null for an invalid value of a generated setting: the saved one applies.
    /// </summary>
    private static EffectiveSetting? Judge(
        SettingDefinition definition, string text, SettingOrigin origin, string? variable, List<string> warnings)
    {
        if (SettingReader.Read(definition, text, out var bound) is { } value)
            return new EffectiveSetting(definition, value, origin, variable);

        var source = variable ?? "the saved value";
        var shown = definition.Secret ? "" : $" \"{Shorten(text)}\"";
        var replacement = bound ?? (definition.Generated ? "the saved or a generated one" : definition.Secret ? "none" : definition.Default);
        warnings.Add($"{definition.Key} from {source}{shown} must be {definition.Allowed}; using {replacement}");
        if (bound is not null)
            return new EffectiveSetting(definition, bound, origin, variable);
        return definition.Generated ? null : new EffectiveSetting(definition, definition.Default, SettingOrigin.Default);
    }

    private void WarnAboutUnknownOverrides(List<string> warnings)
    {
        var known = schema.SelectMany(Names).Select(name => OverrideRest(name.Key)).ToHashSet();
        foreach (var name in environment.Names.Order(StringComparer.Ordinal))
        {
            var prefix = name.StartsWith(Prefix, StringComparison.Ordinal) ? Prefix
                : name.StartsWith(FamilyPrefix, StringComparison.Ordinal) ? FamilyPrefix
                : null;
            if (prefix is not null && !known.Contains(name[prefix.Length..]))
                warnings.Add($"{name} names no setting of this version and has no effect");
        }
    }

    /// <summary>Shortens a value to a single line for a message.</summary>
    private static string Shorten(string text)
    {
        var line = new string([.. text.Take(60).Select(c => char.IsControl(c) || char.IsSurrogate(c) ? '?' : c)]);
        return text.Length > 60 ? line + "…" : line;
    }
}
