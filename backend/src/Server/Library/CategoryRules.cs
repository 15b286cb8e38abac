using Microsoft.Extensions.Options;
using Sluice.Server.Settings;
using Sluice.Usenet.Probing;

namespace Sluice.Server.Library;

/// <summary>What category an item gets, and the folder of a category (SAB-28, SAB-35).</summary>
internal sealed class CategoryRules(IOptionsMonitor<ApiOptions> api, ILogger<CategoryRules> logger)
{
    /// <summary>Stored for items without a category.</summary>
    public const string None = "*";

    // Of a text without a meaning here; real ones have a few letters.
    private const int MaxLength = 255;

    // Of such a text in the log.
    private const int MaxShown = 64;

    // Between a category of an indexer and what is below it.
    private static readonly char[] Separators = ['>', '/', ':'];

    private static readonly string[] Defaults = ["", None, "Default", "None"];

    /// <summary>The category folders that exist even when they are empty.</summary>
    public IReadOnlyList<string> Configured => api.CurrentValue.Categories;

    /// <summary>
    /// The category to store for a client's text: the configured one in its own spelling, because clients look for it letter by letter. A text that
    /// is none of them means none, with a warning that clients can read.
    /// </summary>
    public string Resolve(string category)
    {
        var text = AsSent(category);
        if (text == None)
            return None;
        if (Find(NameCleaner.Clean(text, windowsSafe: true)) is { } known)
            return known;
        if (text.Equals(api.CurrentValue.ManualCategory, StringComparison.OrdinalIgnoreCase))
            return None;
        LibraryLog.UnknownCategory(logger, text.Length <= MaxShown ? text : text[..MaxShown]);
        return None;
    }

    /// <summary>A category of before, or of another server, as an item may keep it whether it is configured or not.</summary>
    public static string AsSent(string category)
    {
        // NUL ends a text for the database.
        var text = category.Replace("\0", "", StringComparison.Ordinal);
        text = text.Length <= MaxLength ? text : text[..MaxLength];
        // The folder of the built-in clip is never shared.
        return Defaults.Contains(text.Trim(), StringComparer.OrdinalIgnoreCase) || IsClip(NameCleaner.Clean(text, windowsSafe: true)) ? None : text;
    }

    /// <summary>The folder of a stored category, below <c>/nzbs</c> and <c>/content</c>: a configured one in its own spelling, any other cleaned.</summary>
    public string FolderOf(string category)
    {
        if (category == None)
            return api.CurrentValue.ManualCategory;
        var name = NameCleaner.Clean(category, windowsSafe: true);
        return Find(name) ?? name;
    }

    /// <summary>The configured category that an NZB names for itself, or null (IMP-13).</summary>
    /// <param name="category">As its indexer calls it, as in <c>TV &gt; HD</c>; null for none.</param>
    /// <param name="tags">Its tags.</param>
    public string? NamedBy(string? category, IEnumerable<string> tags) => tags.Prepend(category ?? "")
        .Select(text => text.Split(Separators, 2)[0].Trim())
        .Select(Find)
        .FirstOrDefault(known => known is not null);

    private string? Find(string name) => Configured.FirstOrDefault(known => known.Equals(name, StringComparison.OrdinalIgnoreCase));

    private static bool IsClip(string name) => name.Equals(BuiltInClip.Category, StringComparison.OrdinalIgnoreCase);
}
