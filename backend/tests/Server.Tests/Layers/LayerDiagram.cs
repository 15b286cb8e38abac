namespace Sluice.Server.Tests.Layers;

/// <summary>The import table in docs/architecture.md: the first fenced block without a language, one project per line.</summary>
internal static class LayerDiagram
{
    /// <param name="order">The import table.</param>
    /// <param name="existing">Folders of the table that hold files.</param>
    /// <param name="page">Text of docs/architecture.md.</param>
    public static IReadOnlyList<string> Violations(IReadOnlyList<Layer> order, IReadOnlySet<string> existing, string page)
    {
        var drawn = Read(page);
        var meant = order.Where(layer => existing.Contains(layer.Folder)).GroupBy(layer => layer.Project)
            .ToDictionary(group => group.Key, group => string.Join(" ", group.Select(layer => layer.Folder)));
        var violations = new List<string>();
        foreach (var project in meant.Keys.Union(drawn.Keys))
        {
            var is_ = drawn.GetValueOrDefault(project, "nothing");
            var should = meant.GetValueOrDefault(project, "nothing");
            if (is_ != should)
                violations.Add($"docs/architecture.md draws {project} as \"{is_}\"; the table and the folders say \"{should}\".");
        }
        return violations;
    }

    /// <summary>Returns the folders of each project in the drawn order, without arrows and bars.</summary>
    private static Dictionary<string, string> Read(string page)
    {
        // Every second part between fences is a block. Its first line contains the language, if any.
        var block = page.Split("```").Where((_, at) => at % 2 == 1).FirstOrDefault(text => text.StartsWith('\n')) ?? "";
        var rows = new Dictionary<string, string>();
        foreach (var line in block.Split('\n'))
        {
            var words = line.Split(' ', StringSplitOptions.RemoveEmptyEntries)
                .Where(word => char.IsAsciiLetterUpper(word[0])).ToArray();
            if (words.Length > 1)
                rows[words[0]] = string.Join(" ", words.Skip(1));
        }
        return rows;
    }
}
