namespace Sluice.Server.Settings;

internal enum SettingType
{
    Boolean,

    Number,

    Choice,

    /// <summary>Text of bounded length without control characters or a colon, because Basic credentials split there.</summary>
    Text,

    Line,

    /// <summary>HTTP address of another server, or empty.</summary>
    Url,

    /// <summary>A secret of letters, digits, <c>_</c> and <c>-</c>.</summary>
    Key,

    /// <summary>A password, stored as a hash so that it cannot be read back.</summary>
    Password,

    Name,

    NameList,

    NetworkList,

    /// <summary>Hosts as names, addresses or networks, or <c>*</c> for all.</summary>
    HostList,

    LineList,

    /// <summary>An absolute path, possibly on another machine.</summary>
    Path,

    PathList,

    /// <summary>A URL path of this server, or empty.</summary>
    UrlPath,

    /// <summary>Bandwidth limits by day and time as JSON, or empty.</summary>
    Schedule,

    /// <summary>A JSON object that its owner validates.</summary>
    Json,
}
