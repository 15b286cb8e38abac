namespace Sluice.Server.Settings;

/// <summary>One row of the schema: key, type, limits and default of a setting, and its aliases.</summary>
/// <remarks>Immutable.</remarks>
internal sealed record SettingDefinition(string Key, SettingType Type)
{
    /// <summary>Value when nothing else gives one, as text.</summary>
    public string Default { get; init; } = "";

    /// <summary>Lowest number, or fewest characters or entries.</summary>
    public long Min { get; init; }

    /// <summary>Highest number, or most characters or entries.</summary>
    public long Max { get; init; }

    /// <summary>0 is allowed beside the range and has a meaning of its own (off, automatic, unlimited).</summary>
    public bool ZeroAllowed { get; init; }

    /// <summary>May be empty, which turns its feature off.</summary>
    public bool EmptyAllowed { get; init; }

    /// <summary>The words of a <see cref="SettingType.Choice"/>.</summary>
    public IReadOnlyList<string> Words { get; init; } = [];

    /// <summary>What the entries of a <see cref="SettingType.LineList"/> are, in words.</summary>
    public string Entries { get; init; } = "";

    /// <summary>Never shown, logged or exported; encrypted or hashed at rest.</summary>
    public bool Secret { get; init; }

    /// <summary>A change counts from the next start.</summary>
    public bool Restart { get; init; }

    /// <summary>Made at random on the first start when nothing gives a value.</summary>
    public bool Generated { get; init; }

    /// <summary>Changed by clients as they work, and therefore no part of the sets that can be restored.</summary>
    public bool IsState { get; init; }

    /// <summary>How it is explained.</summary>
    public SettingCard Card => SettingCards.Of(Key);

    /// <summary>Other keys with the same meaning; they have override names too.</summary>
    public IReadOnlyList<SettingAlias> Aliases { get; init; } = [];

    /// <summary>Environment variables that count when no value is saved.</summary>
    public IReadOnlyList<SettingAlias> Fallbacks { get; init; } = [];

    /// <summary>The allowed values in words, for warnings and errors.</summary>
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
        SettingType.Line => Min > 0 ? $"one line of {Min} to {Max} characters" : $"one line of at most {Max} characters",
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
