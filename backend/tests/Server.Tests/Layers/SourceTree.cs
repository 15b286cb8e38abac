using Sluice.Testing;

namespace Sluice.Server.Tests.Layers;

/// <summary>The C# files of the working copy, without what a build made.</summary>
internal static class SourceTree
{
    private static readonly string[] Made = ["bin", "obj", "node_modules", "wwwroot"];

    // Read once for all checks, because taking all files apart costs more than any of them.
    private static readonly Lazy<SourceFile[]> OfProduct = new(() => [.. Read("backend/src"), .. Read("tools")]);
    private static readonly Lazy<SourceFile[]> OfEverything = new(() => [.. OfProduct.Value, .. Read("backend/tests"), .. Read("backend/benchmarks")]);

    /// <summary>Production and tools: what the import table speaks of.</summary>
    public static IReadOnlyList<SourceFile> Product() => OfProduct.Value;

    /// <summary>All of it, tests and benchmarks included.</summary>
    public static IReadOnlyList<SourceFile> Everything() => OfEverything.Value;

    /// <summary>The same files as they lie on the disk.</summary>
    public static IEnumerable<(string Path, byte[] Bytes)> Bytes() =>
        Everything().Select(file => (file.Path, File.ReadAllBytes(Repository.PathOf(file.Path))));

    private static IEnumerable<SourceFile> Read(string folder) =>
        Directory.EnumerateFiles(Repository.PathOf(folder), "*.cs", SearchOption.AllDirectories)
            .Select(path => (Full: path, Relative: Path.GetRelativePath(Repository.Root, path).Replace('\\', '/')))
            .Where(file => !file.Relative.Split('/').Any(Made.Contains))
            .OrderBy(file => file.Relative, StringComparer.Ordinal)
            .Select(file => new SourceFile(file.Relative, File.ReadAllText(file.Full)));
}
