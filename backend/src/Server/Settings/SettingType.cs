namespace Sluice.Server.Settings;

internal enum SettingType
{
    Boolean,

    Number,

    Choice,

    /// <summary>Text of limited length without control characters. It contains no colon, because a colon separates Basic credentials.</summary>
    Text,

    Line,

    /// <summary>HTTP address of another server, or empty.</summary>
    Url,

    /// <summary>A secret of letters, digits, <c>_</c> and <c>-</c>.</summary>
    Key,

    /// <summary>A password, stored as a hash, so that it cannot be read back.</summary>
    Password,

    Name,

    NameList,

    NetworkList,

    /// <summary>Host names, addresses or networks; <c>*</c> for all.</summary>
    HostList,

    LineList,

    /// <summary>An absolute path, which may be on another machine.</summary>
    Path,

    PathList,

    /// <summary>A URL path of this server, or empty.</summary>
    UrlPath,

    /// <summary>Bandwidth limits by day and time as JSON, or empty.</summary>
    Schedule,

    /// <summary>A JSON object, validated by its owner.</summary>
    Json,
}
