namespace Sluice.Testing;

/// <summary>The working copy that the tests were built from.</summary>
public static class Repository
{
    /// <summary>Full path of its top folder.</summary>
    public static string Root { get; } = FindRoot();

    /// <summary>Returns the full path of a file or folder of the repository; forward slashes separate names.</summary>
    public static string PathOf(string relative) => Path.Combine(Root, relative);

    /// <summary>Returns the full path of a file or folder of <c>backend/tests/Fixtures</c>.</summary>
    public static string Fixture(string relative) => Path.Combine(Root, "backend", "tests", "Fixtures", relative);

    private static string FindRoot()
    {
        for (var folder = new DirectoryInfo(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
        {
            if (File.Exists(Path.Combine(folder.FullName, "backend", "Backend.slnx")))
                return folder.FullName;
        }
        throw new InvalidOperationException($"No folder above {AppContext.BaseDirectory} holds backend/Backend.slnx.");
    }
}
