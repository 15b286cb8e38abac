using Microsoft.Extensions.Options;
using Sluice.Server.Settings;
using Sluice.Usenet.Probing;

namespace Sluice.Server.Library;

/// <summary>Assigns categories to items and folders to categories (SAB-28, SAB-35).</summary>
internal sealed class CategoryRules(IOptionsMonitor<ApiOptions> api, ILogger<CategoryRules> logger)
{
    /// <summary>The stored value of items without a category.</summary>
    public const string None = "*";

    // Maximum length of a stored category. Real categories have a few letters.
    private const int MaxLength = 255;

    // Maximum length of a category in log messages.
    private const int MaxShown = 64;

    // Indexers separate category and subcategory by one of these characters.
    private static readonly char[] Separators = ['>', '/', ':'];

    private static readonly string[] Defaults = ["", None, "Default", "None"];

    /// <summary>The category folders that always exist, even if empty.</summary>
    public IReadOnlyList<string> Configured => api.CurrentValue.Categories;

    /// <summary>
    /// Returns the category to store for a client's text, in the configured spelling, because clients compare it exactly. An unknown category becomes
    /// <see cref="None"/>, with a warning that clients can read.
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

    /// <summary>Cleans a category from an older database or another server. Items keep it even if it is not configured here.</summary>
    public static string AsSent(string category)
    {
        // Remove NUL, because it would truncate the string in the database.
        var text = category.Replace("\0", "", StringComparison.Ordinal);
        text = text.Length <= MaxLength ? text : text[..MaxLength];
        // Drop the clip's category, because its folder is reserved.
        return Defaults.Contains(text.Trim(), StringComparer.OrdinalIgnoreCase) || IsClip(NameCleaner.Clean(text, windowsSafe: true)) ? None : text;
    }

    /// <summary>Returns the folder of a category below <c>/nzbs</c> and <c>/content</c>: its configured spelling, otherwise the cleaned name.</summary>
    public string FolderOf(string category)
    {
        if (category == None)
            return api.CurrentValue.ManualCategory;
        var name = NameCleaner.Clean(category, windowsSafe: true);
        return Find(name) ?? name;
    }

    /// <summary>Returns the configured category named by an NZB, or null (IMP-13). Indexers write <paramref name="category"/> as <c>TV &gt; HD</c>.</summary>
    public string? NamedBy(string? category, IEnumerable<string> tags) => tags.Prepend(category ?? "")
        .Select(text => text.Split(Separators, 2)[0].Trim())
        .Select(Find)
        .FirstOrDefault(known => known is not null);

    private string? Find(string name) => Configured.FirstOrDefault(known => known.Equals(name, StringComparison.OrdinalIgnoreCase));

    private static bool IsClip(string name) => name.Equals(BuiltInClip.Category, StringComparison.OrdinalIgnoreCase);
}
