using Sluice.Usenet.Primitives;

namespace Sluice.Server.Settings;

/// <summary>The SABnzbd-compatible API (<c>api.*</c>).</summary>
internal sealed record ApiOptions
{
    /// <summary>The key that opens it; empty until the first start has made one.</summary>
    public required string Key { get; init; }

    /// <summary>A second key, which opens adds alone; empty for none.</summary>
    public string NzbKey { get; init; } = "";

    /// <summary>Signs links to files by their id that never run out; empty until the first start has made one.</summary>
    public string StrmKey { get; init; } = "";

    /// <summary>Whether <see cref="Key"/> is locked (CFG-53).</summary>
    public bool KeyIsLocked { get; init; }

    /// <summary>Whether <see cref="NzbKey"/> is locked.</summary>
    public bool NzbKeyIsLocked { get; init; }

    /// <summary>Whether <see cref="StrmKey"/> is locked.</summary>
    public bool StrmKeyIsLocked { get; init; }

    /// <summary>Categories that exist even when they are empty; NFC.</summary>
    public required IReadOnlyList<string> Categories { get; init; }

    /// <summary>Category of NZBs that are added without one.</summary>
    public required string ManualCategory { get; init; }

    /// <summary>Whether clients of the *arr family get more history than they ask for (SAB-40).</summary>
    public required bool IgnoreHistoryLimit { get; init; }

    /// <summary>Most history items in one answer.</summary>
    public required int HistoryMaxPageSize { get; init; }

    /// <summary>Whether an item whose name is taken fails; otherwise it gets a number (IMP-44).</summary>
    public required bool FailDuplicates { get; init; }

    /// <summary>How NZBs are asked for at addresses.</summary>
    public string UserAgent { get; init; } = "";

    /// <summary>Hosts at which NZBs are fetched though they are not public: names in lower case, addresses, networks, or <c>*</c>.</summary>
    public IReadOnlyList<string> TrustedHosts { get; init; } = [];

    /// <summary>Folders of this machine from which a client may have NZBs added by their path.</summary>
    public IReadOnlyList<string> LocalNzbFolders { get; init; } = [];

    /// <summary>Takes the values in force.</summary>
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
