using System.Text.RegularExpressions;

namespace Sluice.Server.Tests.Layers;

/// <summary>The pages of <c>docs/contracts</c>: tables whose rows begin with a code and end with a state.</summary>
/// <remarks>The table in the folder's <c>README.md</c> lists the families of codes and the page of each.</remarks>
internal sealed partial class ContractPages
{
    private readonly List<Row> _rows;
    private readonly HashSet<string> _codes;
    private readonly HashSet<(string Page, string Section)> _sections;
    private readonly Dictionary<string, string> _pageOf;

    /// <param name="pages">Every page of the folder.</param>
    public ContractPages(IReadOnlyList<TextFile> pages)
    {
        _rows =
        [
            .. from page in pages
               from match in RequirementRow().Matches(page.Text)
               select new Row(page.Path, match.Groups["code"].Value, match.Groups["family"].Value, match.Groups["state"].Value),
        ];
        _codes = [.. _rows.Select(row => row.Code)];
        _sections = [.. pages.SelectMany(page => SectionHeading().Matches(page.Text).Select(match => (NameOf(page), match.Groups["section"].Value)))];
        _pageOf =
            (from page in pages
             from match in FamilyRow().Matches(page.Text)
             from family in match.Groups["families"].Value.Split(", ")
             select (family, Page: match.Groups["page"].Value)).ToDictionary(pair => pair.family, pair => pair.Page);
    }

    /// <summary>The prefixes of the codes.</summary>
    public IReadOnlySet<string> Families => _pageOf.Keys.ToHashSet();

    /// <summary>Errors in the pages themselves.</summary>
    public IReadOnlyList<string> Violations() =>
    [
        .. from family in _pageOf.Keys
           where _rows.All(row => row.Family != family)
           select $"{family} has no row.",
        .. from row in _rows
           where _pageOf.GetValueOrDefault(row.Family) is var page && (page is null || !row.Page.EndsWith('/' + page, StringComparison.Ordinal))
           select $"{row.Page}: {row.Code} does not belong to this page.",
        .. from row in _rows
           where !State().IsMatch(row.State)
           select $"{row.Page}: {row.Code} is neither **built** nor **to come**, nor **partly** with what is missing.",
        .. from row in _rows
           group row by row.Code into same
           where same.Count() > 1
           select $"{same.Key} has {same.Count()} rows.",
    ];

    /// <summary>Codes without a row and sections without a heading that files cite.</summary>
    public IReadOnlyList<string> Unresolved(IReadOnlyList<TextFile> files) =>
    [
        .. from file in files
           from citation in Citations.Of(file, Families)
           where !_codes.Contains(citation.Code)
           select $"{citation.Place} names {citation.Code}, which is no requirement of docs/contracts.",
        .. from file in files
           from cited in Citations.SectionsOf(file)
           where !_sections.Contains((cited.Page, cited.Section))
           select $"{cited.Place} names section {cited.Section} of {cited.Page}, which docs/contracts does not have.",
    ];

    private static string NameOf(TextFile page) => Path.GetFileNameWithoutExtension(page.Path);

    [GeneratedRegex(@"^\| (?<code>(?<family>[A-Z]+)-?\d+[a-z]?) \| .+ \| (?<state>[^|\n]*) \|\r?$", RegexOptions.Multiline)]
    private static partial Regex RequirementRow();

    [GeneratedRegex(@"^\| \[(?<page>[a-z]+\.md)\]\([^)]*\) \| (?<families>[A-Z, ]+) \|", RegexOptions.Multiline)]
    private static partial Regex FamilyRow();

    [GeneratedRegex(@"^## (?<section>\d+)\. ", RegexOptions.Multiline)]
    private static partial Regex SectionHeading();

    [GeneratedRegex(@"^\*\*(?:built|to come)\*\*(?:: \S.*)?$|^\*\*partly\*\*: \S.*$")]
    private static partial Regex State();

    private sealed record Row(string Page, string Code, string Family, string State);
}
