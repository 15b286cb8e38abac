using System.Text.RegularExpressions;

namespace Sluice.Server.Tests.Layers;

/// <summary>Finds the folders that use each other in a set of files, and reports uses that the import table forbids.</summary>
internal sealed partial class ImportCheck
{
    private readonly IReadOnlyList<Layer> _order;
    private readonly Dictionary<string, int> _places;
    private readonly Dictionary<Layer, List<SourceFile>> _files;
    private readonly Dictionary<Layer, HashSet<string>> _types;
    private readonly List<string> _violations = [];

    private ImportCheck(IReadOnlyList<Layer> order, IReadOnlyList<SourceFile> files)
    {
        _order = order;
        _places = order.Select((layer, place) => (layer.Folder, place)).ToDictionary();
        _files = order.ToDictionary(layer => layer, _ => new List<SourceFile>());
        foreach (var file in files)
        {
            if (LayerOf(file.Path) is { } layer)
                _files[layer].Add(file);
            else if (IsScript(file.Path))
                CheckScript(file);
            else
                _violations.Add($"{file.Path} stands in no folder of the import table.");
        }
        _types = _files.ToDictionary(entry => entry.Key, entry => entry.Value.SelectMany(file => file.Types).ToHashSet());
    }

    /// <summary>Returns one sentence per violation, with the file and the forbidden use; empty if there is none.</summary>
    /// <param name="order">The import table.</param>
    /// <param name="files">The files of the product and the tools, without the tests.</param>
    public static IReadOnlyList<string> Violations(IReadOnlyList<Layer> order, IReadOnlyList<SourceFile> files)
    {
        var check = new ImportCheck(order, files);
        var pairs = new HashSet<(string User, string Used)>();
        foreach (var (layer, own) in check._files)
        {
            foreach (var file in own)
            {
                check.CheckNamespace(layer, file);
                foreach (var used in check.UsedBy(layer, file))
                {
                    pairs.Add((layer.Folder, used.Folder));
                    check.CheckUse(layer, file, used);
                }
            }
        }
        foreach (var (user, used) in pairs)
        {
            if (string.CompareOrdinal(user, used) < 0 && pairs.Contains((used, user)))
                check._violations.Add($"{user} and {used} use each other: move the type that both need.");
        }
        return check._violations;
    }

    private Layer? LayerOf(string path) =>
        _order.Where(layer => path.StartsWith(layer.Path, StringComparison.Ordinal)
                && (!(layer.HasRooms || layer.Folder == Layer.Root) || !path[layer.Path.Length..].Contains('/')))
            .MaxBy(layer => layer.Path.Length);

    /// <summary>Whether the file is a script next to the tools, run by hand and built on its own.</summary>
    private static bool IsScript(string path) =>
        path.StartsWith("tools/", StringComparison.Ordinal) && path.LastIndexOf('/') == "tools/".Length - 1;

    private void CheckScript(SourceFile file)
    {
        if (WholeName().IsMatch(file.Code) || file.Code.Contains("#:project", StringComparison.Ordinal))
            _violations.Add($"{file.Path} is a program of one file and uses a project.");
    }

    private void CheckNamespace(Layer layer, SourceFile file)
    {
        var declared = NamespaceLine().Match(file.Code).Groups["name"].Value;
        if (declared.Length > 0 && OwnerOf(declared) != layer)
            _violations.Add($"{file.Path} declares namespace {declared}; its folder is {layer.Namespace}.");
    }

    /// <summary>Returns every other folder that the file uses, by full or shortened namespace or by a type of an enclosing namespace.</summary>
    private HashSet<Layer> UsedBy(Layer layer, SourceFile file)
    {
        var used = new HashSet<Layer>();
        foreach (Match match in WholeName().Matches(file.Code))
        {
            var name = match.Groups["name"].Value;
            if (OwnerOf(name) is { } other)
                used.Add(other);
            else
                _violations.Add($"{file.Path} names {name}, which is in no folder of the import table.");
        }
        foreach (Match match in ShortName().Matches(file.Code))
        {
            // Queue.Count may be a property; Queue.QueueItem is a type of the folder.
            var name = match.Groups["name"].Value;
            foreach (var other in _order)
            {
                if (ShortNamesOf(other, layer).Any(folder => name.StartsWith(folder, StringComparison.Ordinal)
                        && _types[other].Contains(name[folder.Length..].Split('.')[0])))
                    used.Add(other);
            }
        }
        // Types of an enclosing namespace need no prefix.
        foreach (var outer in _order.Where(outer => layer.Namespace.StartsWith(outer.Namespace + ".", StringComparison.Ordinal)))
        {
            if (_types[outer].Any(type => file.Words.Contains(type) && !_types[layer].Contains(type)))
                used.Add(outer);
        }
        used.Remove(layer);
        return used;
    }

    /// <summary>Returns the folder of a namespace, or of a type with its namespace.</summary>
    private Layer? OwnerOf(string name) =>
        _order.Where(layer => (name + ".").StartsWith(layer.Namespace + ".", StringComparison.Ordinal)).MaxBy(layer => layer.Namespace.Length);

    /// <summary>Returns the possible prefixes of a folder's types: its path in the project, and inside the same folder its room alone.</summary>
    private static IEnumerable<string> ShortNamesOf(Layer folder, Layer user)
    {
        yield return folder.Folder.Replace('/', '.') + ".";
        var room = folder.Folder.LastIndexOf('/') + 1;
        if (room > 0 && (user.Folder + "/").StartsWith(folder.Folder[..room], StringComparison.Ordinal))
            yield return folder.Folder[room..] + ".";
    }

    private void CheckUse(Layer layer, SourceFile file, Layer used)
    {
        if (layer.Uses is { } uses && !uses.Contains(used.Folder))
            _violations.Add($"{file.Path} uses {used.Folder}; {layer.Folder} may use {(uses.Count == 0 ? "no folder" : "only " + string.Join(", ", uses))}.");
        else if (_places[used.Folder] > _places[layer.Folder])
            _violations.Add($"{file.Path} uses {used.Folder}, which stands to the right of {layer.Folder}.");
        else if (used.UsedBy is { } by && !by.Contains(layer.Folder))
            _violations.Add($"{file.Path} uses {used.Folder}, which only {string.Join(", ", by)} may use.");
        if (!layer.Sees.TryGetValue(used.Folder, out var seen))
            return;
        foreach (var type in _types[used].Except(seen).Except(_types[layer]).Where(type => file.Names(type, used.Folder)))
            _violations.Add($"{file.Path} names {type}; of {used.Folder} {layer.Folder} sees only {string.Join(", ", seen)}.");
    }

    [GeneratedRegex(@"^\s*namespace\s+(?<name>[\w.]+)", RegexOptions.Multiline)]
    private static partial Regex NamespaceLine();

    [GeneratedRegex(@"(?<!namespace\s+)\b(?<name>Sluice(?:\.\w+)+)")]
    private static partial Regex WholeName();

    [GeneratedRegex(@"(?<![\w.])(?:(?:Usenet|Server|Tools)\.)?(?<name>[A-Z]\w*(?:\.[A-Z]\w*)+)")]
    private static partial Regex ShortName();
}
