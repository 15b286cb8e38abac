using Sluice.Usenet.Primitives;

namespace Sluice.Server.Settings;

/// <summary>The SABnzbd-compatible API (<c>api.*</c>).</summary>
internal sealed record ApiOptions
{
    /// <summary>The API key; empty until it is generated at the first startup.</summary>
    public required string Key { get; init; }

    /// <summary>A second key that only allows adding NZBs; empty for none.</summary>
    public string NzbKey { get; init; } = "";

    /// <summary>Signs links to files by id; these links never expire. Empty until it is generated at the first startup.</summary>
    public string StrmKey { get; init; } = "";

    /// <summary>Whether <see cref="Key"/> is locked (CFG-53).</summary>
    public bool KeyIsLocked { get; init; }

    public bool NzbKeyIsLocked { get; init; }

    public bool StrmKeyIsLocked { get; init; }

    /// <summary>Categories (in NFC) whose folders exist even if empty.</summary>
    public required IReadOnlyList<string> Categories { get; init; }

    public required string ManualCategory { get; init; }

    /// <summary>Whether *arr clients receive more history items than they request (SAB-40).</summary>
    public required bool IgnoreHistoryLimit { get; init; }

    public required int HistoryMaxPageSize { get; init; }

    /// <summary>Whether an item fails if its name is taken, instead of getting a number appended (IMP-44).</summary>
    public required bool FailDuplicates { get; init; }

    public string UserAgent { get; init; } = "";

    /// <summary>Private hosts from which NZBs may be fetched: lowercase host names, addresses, networks, or <c>*</c>.</summary>
    public IReadOnlyList<string> TrustedHosts { get; init; } = [];

    /// <summary>Local folders from which clients may add NZBs by path.</summary>
    public IReadOnlyList<string> LocalNzbFolders { get; init; } = [];

    public static ApiOptions Read(EffectiveSettings settings) => new()
    {
        Key = settings.Text("api.key"),
        NzbKey = settings.Text("api.nzb-key"),
        StrmKey = settings.Text("api.strm-key"),
        KeyIsLocked = settings.IsLocked("api.key"),
        NzbKeyIsLocked = settings.IsLocked("api.nzb-key"),
        StrmKeyIsLocked = settings.IsLocked("api.strm-key"),
        Categories = settings.List("api.categories"),
        ManualCategory = NfcName.Of(settings.Text("api.manual-category")),
        IgnoreHistoryLimit = settings.Boolean("api.ignore-history-limit"),
        HistoryMaxPageSize = settings.Number("api.history-max-page-size"),
        FailDuplicates = settings.Text("api.duplicate-nzb-behavior") == "mark-failed",
        UserAgent = settings.Text("api.user-agent"),
        TrustedHosts = settings.List("api.addurl-trusted-hosts"),
        LocalNzbFolders = settings.List("api.local-nzb-dirs"),
    };
}
