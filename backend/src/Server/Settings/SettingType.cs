namespace Sluice.Server.Settings;

/// <summary>The kinds of value a setting can have.</summary>
internal enum SettingType
{
    /// <summary>true or false.</summary>
    Boolean,

    /// <summary>A whole number in a range.</summary>
    Number,

    /// <summary>One of a few words.</summary>
    Choice,

    /// <summary>Text without control characters, of bounded length.</summary>
    Text,

    /// <summary>One line of any text.</summary>
    Line,

    /// <summary>Address of another server by HTTP, or empty.</summary>
    Url,

    /// <summary>A secret of letters, digits, <c>_</c> and <c>-</c>.</summary>
    Key,

    /// <summary>A password, kept as a hash.</summary>
    Password,

    /// <summary>One name of a folder.</summary>
    Name,

    /// <summary>Names of folders.</summary>
    NameList,

    /// <summary>Networks in CIDR notation.</summary>
    NetworkList,

    /// <summary>Hosts by name, address or network, or <c>*</c> for all.</summary>
    HostList,

    /// <summary>Lines of any text.</summary>
    LineList,

    /// <summary>An absolute path, as some machine sees it.</summary>
    Path,

    /// <summary>Absolute paths.</summary>
    PathList,

    /// <summary>A path of this server's addresses, or empty.</summary>
    UrlPath,

    /// <summary>Limits of bandwidth by day and time, as JSON, or empty.</summary>
    Schedule,

    /// <summary>A JSON object whose elements are judged by their owner.</summary>
    Json,
}
