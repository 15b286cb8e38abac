using System.Text.Json.Serialization;
using Sluice.Server.Settings;

namespace Sluice.Server.AdminApi;

/// <summary>The kinds of field that a page has for settings.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<SettingFieldType>))]
internal enum SettingFieldType
{
    /// <summary>A switch.</summary>
    Bool,

    /// <summary>A whole number.</summary>
    Integer,

    /// <summary>One line.</summary>
    Text,

    /// <summary>Several lines.</summary>
    List,

    /// <summary>One of a few words.</summary>
    Choice,

    /// <summary>An address.</summary>
    Url,

    /// <summary>A path.</summary>
    Path,

    /// <summary>A line that is not shown again.</summary>
    Secret,

    /// <summary>Several lines that are not shown again.</summary>
    SecretList,

    /// <summary>JSON.</summary>
    Json,

    /// <summary>A time of day, in minutes after midnight.</summary>
    Minutes,
}

/// <summary>What a page needs to show a setting (CFG-16).</summary>
internal sealed record SettingField(
    string Key,
    SettingGroup Group,
    string Title,
    string Help,
    SettingFieldType Type,
    string? Unit,
    long? Min,
    long? Max,
    IReadOnlyList<string>? Choices,
    string Default,
    bool Restart,
    bool Secret,
    bool Advanced,
    bool Basic,
    IReadOnlyList<string> Aliases,
    string OverrideName,
    string? ZeroMeans)
{
    /// <summary>The field of a row of the schema.</summary>
    public static SettingField Of(SettingDefinition definition)
    {
        var card = definition.Card;
        var isCounted = definition.Type == SettingType.Number;
        return new SettingField(
            definition.Key,
            card.Group,
            card.Title,
            card.Help,
            TypeOf(definition),
            card.Unit,
            isCounted ? definition.ZeroAllowed ? 0 : definition.Min : null,
            isCounted ? definition.Max : null,
            definition.Type == SettingType.Choice ? definition.Words : null,
            definition.Default,
            definition.Restart,
            definition.Secret,
            !card.Basic,
            card.Basic,
            [.. definition.Aliases.Select(alias => alias.Name).Distinct()],
            SettingsResolver.OverrideName(definition.Key),
            card.ZeroMeans);
    }

    private static SettingFieldType TypeOf(SettingDefinition definition) => definition.Type switch
    {
        SettingType.Boolean => SettingFieldType.Bool,
        SettingType.Number => SettingFieldType.Integer,
        SettingType.Choice => SettingFieldType.Choice,
        SettingType.Json or SettingType.Schedule => SettingFieldType.Json,
        SettingType.LineList when definition.Secret => SettingFieldType.SecretList,
        SettingType.NameList or SettingType.NetworkList or SettingType.HostList or SettingType.LineList or SettingType.PathList => SettingFieldType.List,
        SettingType.Url => SettingFieldType.Url,
        SettingType.Path => SettingFieldType.Path,
        _ when definition.Secret => SettingFieldType.Secret,
        _ => SettingFieldType.Text,
    };
}

/// <summary>A value in force.</summary>
/// <param name="Key">The setting.</param>
/// <param name="Value">Its text; null for a secret, which is never shown.</param>
/// <param name="Source">Where it comes from.</param>
/// <param name="Variable">The environment variable, if it comes from one. An override locks the setting.</param>
/// <param name="Effective">What an automatic value amounts to at the moment.</param>
/// <param name="IsSet">Whether there is a value at all.</param>
/// <param name="IsLocked">Whether there is one whose key file is lost. It counts again once the file is back; a save replaces it.</param>
internal sealed record SettingValue(
    string Key, string? Value, SettingOrigin Source, string? Variable, string? Effective, bool IsSet, bool IsLocked);

/// <summary>The settings that can be shown.</summary>
internal sealed record SettingFields(IReadOnlyList<SettingField> Items);

/// <summary>All values in force.</summary>
/// <param name="Items">One for each setting.</param>
/// <param name="Seq">Grows with each change.</param>
internal sealed record SettingValues(IReadOnlyList<SettingValue> Items, long Seq);

/// <summary>What is to be saved.</summary>
/// <param name="Values">Text by key; null takes the saved value back.</param>
/// <param name="Password">The administrator's password, which a new WebDAV password may need; null to go without.</param>
internal sealed record SettingsSave(Dictionary<string, string?> Values, string? Password = null) : IJsonBody<SettingsSave>;

/// <summary>A set that was saved.</summary>
internal sealed record SettingsSet(string Id, DateTimeOffset Saved, IReadOnlyList<string> Keys, bool FailedStart);

/// <summary>The sets that can be restored, the newest first.</summary>
internal sealed record SettingsSets(IReadOnlyList<SettingsSet> Items);

/// <summary>How settings stand in JSON, generated at build.</summary>
[JsonSourceGenerationOptions(System.Text.Json.JsonSerializerDefaults.Web)]
[JsonSerializable(typeof(SettingFields))]
[JsonSerializable(typeof(SettingValues))]
[JsonSerializable(typeof(SettingValue))]
[JsonSerializable(typeof(SettingsSave))]
[JsonSerializable(typeof(SettingsSets))]
internal sealed partial class SettingsJson : JsonSerializerContext;
