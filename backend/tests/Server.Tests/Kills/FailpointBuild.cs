using System.Text;
using System.Text.RegularExpressions;
using Sluice.Server.Tests.EndToEnd;
using Sluice.Server.Tests.Layers;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Kills;

/// <summary>The build whose process ends at named steps, and the names of the steps.</summary>
internal static partial class FailpointBuild
{
    /// <summary>Trait by which <c>tools/test.sh</c> runs the tests that kill separately from the other end-to-end tests.</summary>
    public const string Part = "Kills";

    /// <summary>Variable with the step at which the process ends and, after a colon, its pass.</summary>
    public const string Variable = "SLUICE_FAILPOINT";

    /// <summary>Path of its executable, which may not exist.</summary>
    public static string Executable => Repository.PathOf("artifacts/server-failpoints/Sluice.Server");

    /// <summary>Names of all steps, read from the source.</summary>
    public static IReadOnlyList<string> Points { get; } =
        [.. SourceTree.Product().SelectMany(file => Call().Matches(file.Text)).Select(call => call.Groups["name"].Value)];

    /// <summary>Skips the test if the build does not exist.</summary>
    public static void Require() => Assert.SkipUnless(File.Exists(Executable), "the server with failpoints is not built: tools/publish.sh --failpoints");

    [GeneratedRegex("""Failpoint\.Reach\("(?<name>[^"]*)"\)""")]
    private static partial Regex Call();
}

/// <summary>The tested build contains the steps, and no other build does.</summary>
[Trait("Category", EndToEndRun.Name)]
[Trait("Category", FailpointBuild.Part)]
public sealed class FailpointBuildTests
{
    [Fact]
    public void Failpoint_build_contains_every_failpoint()
    {
        FailpointBuild.Require();
        Assert.Empty(NamesIn([Beside(FailpointBuild.Executable)]).Select(found => found.Missing).SelectMany(names => names));
    }

    [Fact]
    public void Other_builds_contain_no_failpoints()
    {
        string[] builds =
        [
            Path.Combine(AppContext.BaseDirectory, "Sluice.Server.dll"),
            Beside(ServerProcess.Executable),
            .. new[] { "artifacts/server", "artifacts/server-aot" }.Select(Repository.PathOf).Where(Directory.Exists)
                .SelectMany(folder => Directory.GetFiles(folder, "Sluice.Server*")),
        ];
        Assert.All(NamesIn(builds.Where(File.Exists)), found => Assert.True(found.Present.Count == 0, $"{found.Path} holds {string.Join(", ", found.Present)}"));
    }

    // Without ahead-of-time compilation the executable only starts the library next to it.
    private static string Beside(string executable) => File.Exists(executable + ".dll") ? executable + ".dll" : executable;

    private static IEnumerable<(string Path, List<string> Present, List<string> Missing)> NamesIn(IEnumerable<string> builds)
    {
        foreach (var path in builds)
        {
            var bytes = File.ReadAllBytes(path);
            var found = FailpointBuild.Points.Append(FailpointBuild.Variable).ToLookup(name => Holds(bytes, name));
            yield return (path, [.. found[true]], [.. found[false]]);
        }
    }

    private static bool Holds(ReadOnlySpan<byte> bytes, string name) =>
        bytes.IndexOf(Encoding.Unicode.GetBytes(name)) >= 0 || bytes.IndexOf(Encoding.UTF8.GetBytes(name)) >= 0;
}

/// <summary>A new step needs a test that kills the server there.</summary>
public sealed class FailpointListTests
{
    [Fact]
    public void Each_failpoint_is_in_the_list_of_one_kill_test()
    {
        string[] killed = [.. KillPointTests.Points, .. MigrationKillTests.Points, .. BackupKillTests.Points, .. FileRemovalKillTests.Points];

        // Sorted lists differ if a name is missing, unknown or in two places.
        Assert.Equal(FailpointBuild.Points.Order(StringComparer.Ordinal), killed.Order(StringComparer.Ordinal));
        Assert.Distinct(killed);
    }
}
