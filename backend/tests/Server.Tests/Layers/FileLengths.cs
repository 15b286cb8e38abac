namespace Sluice.Server.Tests.Layers;

/// <summary>
/// Limits files to one idea each. The owner of a lock and all its guarded state are one idea, so the limit is high.
/// </summary>
internal static class FileLengths
{
    public const int Most = 800;

    /// <summary>Longer files are reported with the statistics of the code.</summary>
    public const int Long = 500;

    /// <summary>Longer files with the reason for each. An entry that is no longer needed is an error too.</summary>
    public static readonly IReadOnlyDictionary<string, string> Allowed = new Dictionary<string, string>();

    public static IReadOnlyList<string> Violations(IReadOnlyList<SourceFile> files, IReadOnlyDictionary<string, string> allowed)
    {
        var violations = new List<string>();
        foreach (var file in files.Where(file => file.Lines > Most && !allowed.ContainsKey(file.Path)))
            violations.Add($"{file.Path} has {file.Lines} lines: split it, or list it with a reason.");
        foreach (var (path, reason) in allowed)
        {
            if (string.IsNullOrWhiteSpace(reason))
                violations.Add($"{path} is listed as a long file without a reason.");
            if (files.All(file => file.Path != path))
                violations.Add($"{path} is listed as a long file and does not exist.");
            else if (files.First(file => file.Path == path).Lines <= Most)
                violations.Add($"{path} is listed as a long file and no longer is one.");
        }
        return violations;
    }
}
