namespace Sluice.Server.Settings;

/// <summary>What an import takes in, demands and leaves behind (<c>api.*</c>).</summary>
/// <remarks>Holds passwords; never written to a log.</remarks>
internal sealed record ImportOptions
{
    /// <summary>Address of this server as players reach it, without a slash at its end; for links to single files.</summary>
    public string BaseUrl { get; init; } = "";

    /// <summary>Whether clients of the history find <c>.strm</c> files in <see cref="CompletedFolder"/>, and not links on the mount.</summary>
    public bool PublishesStrm { get; init; }

    /// <summary>Folder of this machine in which clients find releases made of <c>.strm</c> files.</summary>
    public string CompletedFolder { get; init; } = "";

    /// <summary>Folder of this machine that gets <c>.strm</c> files in any case; null for none.</summary>
    public string? StrmLibrary { get; init; }

    /// <summary>Whether a release without video and audio fails.</summary>
    public bool RequiresMedia { get; init; } = true;

    /// <summary>Categories of which a release needs neither.</summary>
    public IReadOnlyList<string> MediaExemptCategories { get; init; } = [];

    /// <summary>Categories whose articles are all asked for before a release is published; <c>*</c> for all.</summary>
    public IReadOnlyList<string> CheckedCategories { get; init; } = [];

    /// <summary>Whether a sample is enough for them.</summary>
    public bool ChecksSample { get; init; }

    /// <summary>Whether companions with missing articles are published beside complete media.</summary>
    public bool TakesDamagedCompanions { get; init; } = true;

    /// <summary>Patterns of names that are not published.</summary>
    public IReadOnlyList<string> Blocklist { get; init; } = [];

    /// <summary>Whether samples are left out.</summary>
    public bool LeavesOutSamples { get; init; } = true;

    /// <summary>Whether the middle volumes of a RAR set are predicted, and looked into when they are read (IMP-52).</summary>
    public bool PredictsVolumes { get; init; } = true;

    /// <summary>Passwords that are tried on every encrypted archive.</summary>
    public IReadOnlyList<string> ArchivePasswords { get; init; } = [];

    /// <summary>Takes the values in force.</summary>
    public static ImportOptions Read(EffectiveSettings settings) => new()
    {
        BaseUrl = BaseUrlOf(settings.Text("general.base-url"), settings.Text("general.url-base")),
        PublishesStrm = settings.Text("api.import-strategy") == "strm",
        CompletedFolder = settings.Text("api.completed-downloads-dir"),
        StrmLibrary = settings.Boolean("api.also-create-strm") ? settings.Text("api.strm-library-dir") : null,
        RequiresMedia = settings.Boolean("api.ensure-importable-video"),
        MediaExemptCategories = settings.List("api.importable-exempt-categories"),
        CheckedCategories = settings.List("api.ensure-article-existence-categories"),
        ChecksSample = settings.Text("api.article-existence-check-mode") == "sampled",
        TakesDamagedCompanions = settings.Boolean("api.skip-non-video-on-missing-articles"),
        Blocklist = settings.List("api.download-file-blocklist"),
        LeavesOutSamples = settings.Boolean("api.sample-filter-enabled"),
        PredictsVolumes = settings.Boolean("api.lazy-rar-parsing"),
        ArchivePasswords = settings.List("api.archive-passwords"),
    };

    /// <summary>No setting: some are secret.</summary>
    public override string ToString() => nameof(ImportOptions);

    // Who reaches the server by a proxy may have written the path down already.
    private static string BaseUrlOf(string address, string path) => address.EndsWith(path, StringComparison.Ordinal) ? address : address + path;
}
