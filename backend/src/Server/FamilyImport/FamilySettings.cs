using System.Text.Json;
using System.Text.Json.Nodes;
using Sluice.Server.Providers;
using Sluice.Server.Settings;

namespace Sluice.Server.FamilyImport;

/// <summary>Old settings converted for this server: canonical values by key, and unknown keys unchanged.</summary>
internal sealed record FamilySettings(IReadOnlyDictionary<string, string?> Values, IReadOnlyDictionary<string, string> Kept)
{
    private const string Providers = "usenet.providers";
    private const string Retention = "database.history-retention-days";
    private const string MountDir = "rclone.mount-dir";

    // Old servers' default mount. It is kept, because the links in Sonarr's and Radarr's libraries point there.
    private const string OldMountDir = "/mnt/nzbdav";

    // Settings that delete or generate data keep this server's defaults, so that users enable them deliberately.
    private static readonly string[] NeverSwitched =
        ["repair.dry-run", "repair.auto-remove-after-failures", "maintenance.remove-orphaned-schedule-enabled", "usenet.gap-fill"];

    // Versions with a single provider stored each of the provider's fields as a setting.
    private static readonly string[] OneProvider = ["usenet.host", "usenet.port", "usenet.use-ssl", "usenet.user", "usenet.pass", "usenet.connections"];

    /// <summary>
    /// Converts old settings with the alias table (CFG-41) and reports each to the tally. Keeps old servers' default mount unless <paramref name="hasMount"/>
    /// says that this server has its own mount.
    /// </summary>
    public static FamilySettings Of(IReadOnlyList<FamilySetting> rows, IReadOnlyList<ISettingCheck> checks, ImportTally tally, bool hasMount = false)
    {
        tally.Take(ImportKind.Settings, rows.Count);
        var old = new Dictionary<string, string>();
        foreach (var row in rows)
            old[row.Key] = row.Value;
        var (values, used) = (new Dictionary<string, string?>(), new HashSet<string>());
        if (JoinProvider(old) is { } joined)
            used.UnionWith(OneProvider);
        else
            joined = null;
        foreach (var key in NeverSwitched.Where(old.ContainsKey))
        {
            tally.Refuse(ImportKind.Settings, key, "it decides what is deleted or made up, and begins with its default here");
            old.Remove(key);
        }

        foreach (var definition in SettingSchema.All)
        {
            var found = Find(definition, old, used);
            if (definition.Key == Providers && found is null && joined is not null)
                found = (OneProvider[0], joined);
            if (found is not var (key, text))
                continue;
            if (Judge(definition, text, checks, tally) is { } value)
            {
                values[definition.Key] = value;
                NoteReading(definition, key, old.GetValueOrDefault(key, ""), value, tally);
            }
            else
            {
                tally.Refuse(ImportKind.Settings, key, $"the value has to be {definition.Allowed}");
            }
        }

        if (values.TryAdd(Retention, "0"))
            tally.Note($"{Retention} is 0: the old server kept its history for good, and so does this one");
        if (!hasMount && values.TryAdd(MountDir, OldMountDir))
            tally.Note($"{MountDir} is {OldMountDir}: links in your library lead there");
        var kept = old.Where(row => !used.Contains(row.Key)).ToDictionary();
        foreach (var key in kept.Keys)
            tally.Keep(key);
        return new FamilySettings(values, kept);
    }

    /// <summary>Finds a setting's effective value, converted to the setting's unit, and marks all of the setting's names as used.</summary>
    private static (string Key, string Text)? Find(SettingDefinition definition, Dictionary<string, string> old, HashSet<string> used)
    {
        (string, string)? found = null;
        foreach (var (key, alias) in definition.Aliases.Select(alias => (alias.Name, (SettingAlias?)alias)).Prepend((definition.Key, null)))
        {
            if (!old.TryGetValue(key, out var text))
                continue;
            used.Add(key);
            // Skip an empty value, because the old servers treat it as not set.
            if (found is null && text.Length > 0 && (alias is null ? text : alias.Convert(text)) is { } converted)
                found = (key, converted);
        }

        return found;
    }

    private static string? Judge(SettingDefinition definition, string text, IReadOnlyList<ISettingCheck> checks, ImportTally tally)
    {
        if (definition.Type == SettingType.Password)
            text = PasswordHash.OfIdentity(text, "")?.ToString() ?? text;
        if (definition.Key == Providers)
            text = LeaveOutBroken(text, tally);
        var value = SettingReader.Read(definition, text, out var bound) ?? bound;
        return value is null || checks.Where(check => check.Key == definition.Key).SelectMany(check => check.Errors(value)).Any() ? null : value;
    }

    /// <summary>Removes unusable providers, because they would prevent the others from being saved.</summary>
    private static string LeaveOutBroken(string json, ImportTally tally)
    {
        try
        {
            var usable = ProviderJson.ReadElements(json, out var complaints).Select(provider => provider.Element).ToHashSet();
            if (complaints.Count == 0 || JsonNode.Parse(json, new JsonNodeOptions { PropertyNameCaseInsensitive = true }) is not JsonObject root || root["Providers"] is not JsonArray list)
                return json;
            foreach (var complaint in complaints)
                tally.Note(complaint);
            root["Providers"] = new JsonArray([.. list.Where((_, i) => usable.Contains(i)).Select(element => element?.DeepClone())]);
            return root.ToJsonString();
        }
        catch (Exception e) when (e is JsonException or ArgumentException)
        {
            return json;
        }
    }

    private static string? JoinProvider(Dictionary<string, string> old)
    {
        if (old.ContainsKey(Providers) || old.GetValueOrDefault(OneProvider[0])?.Trim() is not { Length: > 0 } host)
            return null;
        string Text(int i) => old.GetValueOrDefault(OneProvider[i])?.Trim() ?? "";
        var provider = new JsonObject
        {
            ["Type"] = 1,
            ["Host"] = host,
            ["Port"] = SettingText.ReadNumber(Text(1)) ?? 119,
            ["UseSsl"] = SettingText.ReadBoolean(Text(2)) ?? false,
            ["User"] = Text(3),
            ["Pass"] = Text(4),
            ["MaxConnections"] = SettingText.ReadNumber(Text(5)) ?? 50,
        };
        return new JsonObject { ["Providers"] = new JsonArray(provider) }.ToJsonString();
    }

    /// <summary>Notes a value whose key, unit or limit differs here, both before and after conversion. A secret is noted only by its key.</summary>
    private static void NoteReading(SettingDefinition definition, string key, string before, string after, ImportTally tally)
    {
        var isNumber = definition.Type == SettingType.Number && SettingText.ReadNumber(before)?.ToString(System.Globalization.CultureInfo.InvariantCulture) != after;
        if (key == definition.Key && !isNumber)
            return;
        tally.Note(definition.Secret ? $"{key} is {definition.Key} here" : $"{key}: {before} is {definition.Key}: {after} here");
    }
}
