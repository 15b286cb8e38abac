namespace Sluice.Server.Settings;

/// <summary>One setting in the schema: key, type, limits, default and aliases.</summary>
internal sealed record SettingDefinition(string Key, SettingType Type)
{
    public string Default { get; init; } = "";

    /// <summary>Minimum value, length or number of entries, depending on the type.</summary>
    public long Min { get; init; }

    public long Max { get; init; }

    /// <summary>Whether 0 is allowed outside the range with a special meaning (off, automatic or unlimited).</summary>
    public bool ZeroAllowed { get; init; }

    /// <summary>Whether an empty value is allowed, which turns the feature off.</summary>
    public bool EmptyAllowed { get; init; }

    /// <summary>Whether a <see cref="SettingType.Url"/> must be https.</summary>
    public bool NeedsTls { get; init; }

    public IReadOnlyList<string> Words { get; init; } = [];

    /// <summary>Describes the entries of a <see cref="SettingType.LineList"/>.</summary>
    public string Entries { get; init; } = "";

    /// <summary>Whether the value is stored encrypted or hashed, and never shown, logged or exported.</summary>
    public bool Secret { get; init; }

    public bool Restart { get; init; }

    /// <summary>Whether a random value is generated at the first startup.</summary>
    public bool Generated { get; init; }

    /// <summary>Whether clients change the value during normal use.</summary>
    public bool IsState { get; init; }

    /// <summary>Whether restorable sets contain the value. They exclude state, and also the WebDAV password, because it may have been revoked (S33).</summary>
    public bool IsInSets => !IsState && Type != SettingType.Password;

    public SettingCard Card => SettingCards.Of(Key);

    /// <summary>Other keys with the same meaning. Their environment variables override the setting too.</summary>
    public IReadOnlyList<SettingAlias> Aliases { get; init; } = [];

    /// <summary>Environment variables that apply if no value is saved.</summary>
    public IReadOnlyList<SettingAlias> Fallbacks { get; init; } = [];

    public string Allowed => Type switch
    {
        SettingType.Boolean => "true or false",
        SettingType.Number when ZeroAllowed => $"0 or a whole number from {Min} to {Max}",
        SettingType.Number => $"a whole number from {Min} to {Max}",
        SettingType.Choice => $"one of {string.Join(", ", Words)}",
        SettingType.Key when EmptyAllowed => $"empty or {Min} to {Max} letters, digits, _ and -",
        SettingType.Key => $"{Min} to {Max} letters, digits, _ and -",
        SettingType.Password => ChosenPassword.Rule,
        SettingType.Text => $"{Min} to {Max} characters without a colon",
        SettingType.Line when EmptyAllowed => $"empty or one line of {Min} to {Max} characters",
        SettingType.Line => Min > 0 ? $"one line of {Min} to {Max} characters" : $"one line of at most {Max} characters",
        SettingType.Url when NeedsTls => "empty or an https URL without credentials",
        SettingType.Url => "empty or an http or https URL without credentials",
        SettingType.Name => "a folder name",
        SettingType.NameList => $"at most {Max} folder names, separated by commas",
        SettingType.NetworkList => "networks such as 192.168.1.0/24, separated by commas",
        SettingType.HostList => $"at most {Max} host names, addresses, networks or *, separated by commas",
        SettingType.LineList => $"at most {Max} {Entries}, separated by commas",
        SettingType.Path when EmptyAllowed => "empty or an absolute path",
        SettingType.PathList => $"at most {Max} absolute paths, separated by commas",
        SettingType.Path => "an absolute path",
        SettingType.Schedule => "empty or a JSON array of limits with days and times",
        SettingType.UrlPath => "empty or a path of letters, digits, ., _, ~, - and /",
        _ => "a JSON object",
    };
}
