using System.Text.Json.Serialization;
using Sluice.Server.Settings;

namespace Sluice.Server.AdminApi;

[JsonConverter(typeof(KebabCaseEnumConverter<SettingFieldType>))]
internal enum SettingFieldType
{
    Bool,
    Integer,
    Text,
    List,
    Choice,
    Url,
    Path,

    /// <summary>A line of text that the form never shows again after it is saved.</summary>
    Secret,

    /// <summary>Several lines of text that the form never shows again after they are saved.</summary>
    SecretList,
    Json,

    /// <summary>A time of day, in minutes after midnight.</summary>
    Minutes,
}

/// <summary>Describes a setting for a form (CFG-16).</summary>
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

/// <summary>
/// The effective value; null for secrets. <c>Variable</c> is the environment variable that sets it; an override locks it. <c>Effective</c> resolves an
/// automatic value. <c>IsLocked</c>: the secret's key file is lost; the value returns with the file, or is replaced by saving.
/// </summary>
internal sealed record SettingValue(
    string Key, string? Value, SettingOrigin Source, string? Variable, string? Effective, bool IsSet, bool IsLocked);

internal sealed record SettingFields(IReadOnlyList<SettingField> Items);

/// <summary>All effective values. <c>Seq</c> grows with each change.</summary>
internal sealed record SettingValues(IReadOnlyList<SettingValue> Items, long Seq);

/// <summary>Values to save, by key; null resets a setting. A new WebDAV password may require the administrator's password.</summary>
internal sealed record SettingsSave(Dictionary<string, string?> Values, string? Password = null) : IJsonBody<SettingsSave>;

/// <summary>A saved set of settings that can be restored.</summary>
internal sealed record SettingsSet(string Id, DateTimeOffset Saved, IReadOnlyList<string> Keys, bool FailedStart);

internal sealed record SettingsSets(IReadOnlyList<SettingsSet> Items);
