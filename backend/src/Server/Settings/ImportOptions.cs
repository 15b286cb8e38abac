namespace Sluice.Server.Settings;

/// <summary>Rules for imports (<c>api.*</c>). Must not be logged, because they contain passwords.</summary>
internal sealed record ImportOptions
{
    /// <summary>Base of the URLs in <c>.strm</c> files, without a trailing slash: the address under which players reach this server.</summary>
    public string BaseUrl { get; init; } = "";

    /// <summary>Whether *arr clients import <c>.strm</c> files from <see cref="CompletedFolder"/> instead of links on the mount.</summary>
    public bool PublishesStrm { get; init; }

    /// <summary>Local folder for the <c>.strm</c> files of finished releases.</summary>
    public string CompletedFolder { get; init; } = "";

    /// <summary>Local folder that receives the <c>.strm</c> files of every release; null for none.</summary>
    public string? StrmLibrary { get; init; }

    public bool RequiresMedia { get; init; } = true;

    /// <summary>Categories exempt from <see cref="RequiresMedia"/>.</summary>
    public IReadOnlyList<string> MediaExemptCategories { get; init; } = [];

    /// <summary>Categories in which every article is checked before publication; <c>*</c> for all.</summary>
    public IReadOnlyList<string> CheckedCategories { get; init; } = [];

    /// <summary>Whether checking a sample suffices for these categories.</summary>
    public bool ChecksSample { get; init; }

    /// <summary>Whether companion files with missing articles are published if the media are complete.</summary>
    public bool TakesDamagedCompanions { get; init; } = true;

    public IReadOnlyList<string> Blocklist { get; init; } = [];

    public bool LeavesOutSamples { get; init; } = true;

    /// <summary>Whether the middle volumes of a RAR set are predicted, so that their headers are read only on playback (IMP-52).</summary>
    public bool PredictsVolumes { get; init; } = true;

    public IReadOnlyList<string> ArchivePasswords { get; init; } = [];

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

    /// <summary>Omits all values, because some are secret.</summary>
    public override string ToString() => nameof(ImportOptions);

    // Do not append the path twice: the configured address may already contain it, for example behind a proxy.
    private static string BaseUrlOf(string address, string path) => address.EndsWith(path, StringComparison.Ordinal) ? address : address + path;
}
