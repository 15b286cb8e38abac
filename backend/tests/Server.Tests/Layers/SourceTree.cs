using Sluice.Testing;

namespace Sluice.Server.Tests.Layers;

/// <summary>The C# files of the working copy, without what a build made.</summary>
internal static class SourceTree
{
    private static readonly string[] Made = ["bin", "obj", "node_modules", "wwwroot"];

    /// <summary>Production and tools: what the import table speaks of.</summary>
    public static IReadOnlyList<SourceFile> Product() => [.. Read("backend/src"), .. Read("tools")];

    /// <summary>All of it, tests and benchmarks included.</summary>
    public static IReadOnlyList<SourceFile> Everything() => [.. Product(), .. Read("backend/tests"), .. Read("backend/benchmarks")];

    private static IEnumerable<SourceFile> Read(string folder) =>
        Directory.EnumerateFiles(Repository.PathOf(folder), "*.cs", SearchOption.AllDirectories)
            .Select(path => (Full: path, Relative: Path.GetRelativePath(Repository.Root, path).Replace('\\', '/')))
            .Where(file => !file.Relative.Split('/').Any(Made.Contains))
            .OrderBy(file => file.Relative, StringComparer.Ordinal)
            .Select(file => new SourceFile(file.Relative, File.ReadAllText(file.Full)));
}
