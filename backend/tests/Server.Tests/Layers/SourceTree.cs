using Sluice.Testing;

namespace Sluice.Server.Tests.Layers;

/// <summary>The C# files of the working copy, without build output.</summary>
internal static class SourceTree
{
    private static readonly string[] Made = ["bin", "obj", "node_modules", "wwwroot"];

    // Read once for all checks, because parsing all files costs more than any check.
    private static readonly Lazy<SourceFile[]> OfProduct = new(() => [.. Read("backend/src"), .. Read("tools")]);
    private static readonly Lazy<SourceFile[]> OfEverything = new(() => [.. OfProduct.Value, .. Read("backend/tests"), .. Read("backend/benchmarks")]);

    /// <summary>The files of the product and the tools, to which the import table applies.</summary>
    public static IReadOnlyList<SourceFile> Product() => OfProduct.Value;

    /// <summary>All files, including tests and benchmarks.</summary>
    public static IReadOnlyList<SourceFile> Everything() => OfEverything.Value;

    /// <summary>The same files with their bytes on disk.</summary>
    public static IEnumerable<(string Path, byte[] Bytes)> Bytes() =>
        Everything().Select(file => (file.Path, File.ReadAllBytes(Repository.PathOf(file.Path))));

    private static IEnumerable<SourceFile> Read(string folder) =>
        Directory.EnumerateFiles(Repository.PathOf(folder), "*.cs", SearchOption.AllDirectories)
            .Select(path => (Full: path, Relative: Path.GetRelativePath(Repository.Root, path).Replace('\\', '/')))
            .Where(file => !file.Relative.Split('/').Any(Made.Contains))
            .OrderBy(file => file.Relative, StringComparer.Ordinal)
            .Select(file => new SourceFile(file.Relative, File.ReadAllText(file.Full)));
}
