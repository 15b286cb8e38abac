using Microsoft.Extensions.Options;
using Sluice.Server.Settings;
using Sluice.Usenet.Probing;

namespace Sluice.Server.Library;

/// <summary>What category an item gets, and the folder of a category (SAB-28).</summary>
internal sealed class CategoryRules(IOptionsMonitor<ApiOptions> api)
{
    /// <summary>Stored for items without a category.</summary>
    public const string None = "*";

    private static readonly string[] Defaults = ["", None, "Default", "None"];

    /// <summary>The category folders that exist even when they are empty.</summary>
    public IReadOnlyList<string> Configured => api.CurrentValue.Categories;

    /// <summary>The category to store for a client's text: a configured one in its own spelling, any other cleaned, or none.</summary>
    public string Resolve(string category)
    {
        if (Defaults.Contains(category.Trim(), StringComparer.OrdinalIgnoreCase))
            return None;

        var name = NameCleaner.Clean(category, windowsSafe: true);
        // The folder of the built-in clip is never shared.
        if (name.Equals(BuiltInClip.Category, StringComparison.OrdinalIgnoreCase))
            return None;
        return Configured.FirstOrDefault(known => known.Equals(name, StringComparison.OrdinalIgnoreCase)) ?? name;
    }

    /// <summary>The folder of a stored category, below <c>/nzbs</c> and <c>/content</c>.</summary>
    public string FolderOf(string category) => category == None ? api.CurrentValue.ManualCategory : category;
}
