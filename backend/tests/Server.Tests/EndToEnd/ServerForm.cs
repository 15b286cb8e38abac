using System.Security.Cryptography;
using System.Text;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>
/// Which form of the server a test starts: the ordinary build, which was built with the tests, or the one that ships, which
/// <c>tools/publish.sh --aot</c> compiles ahead. <c>tools/test.sh</c> says which by a variable: one of them, or each test by its name, one
/// half of them at even numbers of commits and the other half at odd ones. Without the variable it is the ordinary one.
/// </summary>
internal static class ServerForm
{
    /// <summary>Trait of the tests that are about the form that ships, whatever the variable says.</summary>
    public const string Trait = "Form";

    /// <summary>Value of the trait.</summary>
    public const string Ahead = "aot";

    private const string Ordinary = "ordinary";

    private static readonly string? Wanted = Environment.GetEnvironmentVariable("SLUICE_TEST_FORM");

    /// <summary>The executable that the running test starts.</summary>
    public static string Executable
    {
        get
        {
            var isAhead = TestContext.Current.TestMethod?.Traits.TryGetValue(Trait, out var forms) == true && forms.Contains(Ahead)
                || IsAhead(Wanted, $"{TestContext.Current.TestClass?.TestClassName}.{TestContext.Current.TestMethod?.MethodName}");
            TestContext.Current.TestOutputHelper?.WriteLine($"server: {(isAhead ? Ahead : Ordinary)}");
            return isAhead ? AheadFile : OrdinaryFile;
        }
    }

    /// <summary>The build that is compiled ahead, whether it is there or not.</summary>
    public static string AheadFile => Repository.PathOf("artifacts/server-aot/Sluice.Server");

    // Tests and server are built with one configuration: .../bin/<configuration>/net10.0/.
    private static string OrdinaryFile
    {
        get
        {
            var framework = new DirectoryInfo(AppContext.BaseDirectory);
            return Repository.PathOf($"backend/src/Server/bin/{framework.Parent!.Name}/{framework.Name}/Sluice.Server");
        }
    }

    /// <summary>Whether a test takes the build that is compiled ahead.</summary>
    /// <param name="wanted">The variable.</param>
    /// <param name="test">Name of the test.</param>
    internal static bool IsAhead(string? wanted, string test) => wanted switch
    {
        null or "" or Ordinary => false,
        Ahead => true,
        "even" => HasEvenHash(test),
        "odd" => !HasEvenHash(test),
        _ => throw new InvalidOperationException($"SLUICE_TEST_FORM is {wanted}"),
    };

    // Of the runtime's own hashes none is the same in every process.
    private static bool HasEvenHash(string test) => SHA256.HashData(Encoding.UTF8.GetBytes(test))[0] % 2 == 0;
}

/// <summary>That each test meets both forms.</summary>
public sealed class ServerFormTests
{
    private static readonly string[] Tests = [.. Enumerable.Range(0, 200).Select(number => $"Sluice.Tests.Some_test_{number}")];

    [Fact]
    public void Each_test_takes_one_form_at_even_numbers_of_commits_and_the_other_at_odd_ones()
    {
        foreach (var test in Tests)
            Assert.NotEqual(ServerForm.IsAhead("even", test), ServerForm.IsAhead("odd", test));
        Assert.InRange(Tests.Count(test => ServerForm.IsAhead("even", test)), 60, 140);
    }

    [Theory]
    [InlineData(null, 0)]
    [InlineData("ordinary", 0)]
    [InlineData("aot", 200)]
    public void One_form_can_be_wanted_for_all(string? wanted, int ahead) =>
        Assert.Equal(ahead, Tests.Count(test => ServerForm.IsAhead(wanted, test)));
}
