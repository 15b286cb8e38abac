using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>
/// The form of the server that a test starts. <c>tools/test.sh</c> sets it in <c>SLUICE_TEST_FORM</c>: <c>published</c> is the ordinary
/// form as <c>tools/publish.sh</c> builds it, <c>aot</c> the shipped form, and <c>arm64</c> the archive for arm64 in an emulator. Without
/// the variable a test starts the ordinary form that was built with the tests.
/// </summary>
internal static class ServerForm
{
    /// <summary>Trait of the tests for one form only, whatever the variable says.</summary>
    public const string Trait = "Form";

    /// <summary>Value of the trait for the shipped form.</summary>
    public const string Ahead = "aot";

    /// <summary>Value of the trait for the arm64 archive, as <c>tools/arm64.sh</c> unpacks it.</summary>
    public const string Arm = "arm64";

    private const string Ordinary = "ordinary";
    private const string Published = "published";

    private static readonly string? Wanted = Environment.GetEnvironmentVariable("SLUICE_TEST_FORM");

    /// <summary>The executable that the running test starts.</summary>
    public static string Executable
    {
        get
        {
            var form = TestContext.Current.TestMethod?.Traits.TryGetValue(Trait, out var forms) == true ? forms.Single() : Wanted;
            TestContext.Current.TestOutputHelper?.WriteLine($"server: {form ?? Ordinary}");
            return FileOf(form);
        }
    }

    /// <summary>Path of the build compiled ahead of time, which may not exist.</summary>
    public static string AheadFile => Repository.PathOf("artifacts/server-aot/Sluice.Server");

    /// <summary>Returns the executable of a form.</summary>
    /// <param name="form">Value of the variable.</param>
    internal static string FileOf(string? form) => form switch
    {
        null or "" or Ordinary => BuiltFile,
        Published => Repository.PathOf("artifacts/server/Sluice.Server"),
        Ahead => AheadFile,
        Arm => Repository.PathOf("artifacts/arm64/server"),
        _ => throw new InvalidOperationException($"SLUICE_TEST_FORM is {form}"),
    };

    // Tests and server are built with the same configuration: .../bin/<configuration>/net10.0/.
    private static string BuiltFile
    {
        get
        {
            var framework = new DirectoryInfo(AppContext.BaseDirectory);
            return Repository.PathOf($"backend/src/Server/bin/{framework.Parent!.Name}/{framework.Name}/Sluice.Server");
        }
    }
}

/// <summary>Selection of the form.</summary>
public sealed class ServerFormTests
{
    [Theory]
    [InlineData(null, "backend/src/Server/bin/")]
    [InlineData("ordinary", "backend/src/Server/bin/")]
    [InlineData("published", "artifacts/server/Sluice.Server")]
    [InlineData("aot", "artifacts/server-aot/Sluice.Server")]
    [InlineData("arm64", "artifacts/arm64/server")]
    public void Environment_variable_selects_the_server_build_for_all_tests(string? wanted, string expected) =>
        Assert.StartsWith(Repository.PathOf(expected), ServerForm.FileOf(wanted), StringComparison.Ordinal);

    [Theory]
    [InlineData("even")]
    [InlineData("AOT")]
    public void Unknown_server_build_is_refused(string wanted) => Assert.Throws<InvalidOperationException>(() => ServerForm.FileOf(wanted));
}
