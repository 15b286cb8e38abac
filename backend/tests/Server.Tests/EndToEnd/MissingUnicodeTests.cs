using Sluice.Server.Tests.Database;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>The shipped form on a machine without ICU, where .NET would end with a stack trace.</summary>
[Trait("Category", EndToEndRun.Name)]
[Trait(ServerForm.Trait, ServerForm.Ahead)]
public sealed class MissingUnicodeTests : IDisposable
{
    // Hides each copy of the library in a mount namespace that only the server sees.
    private const string WithoutUnicode = """
        for library in $(ldconfig -p | sed -n 's/.*libicuuc\.so\.[0-9]* .*=> //p'); do mount --bind /dev/null "$(readlink -f "$library")"; done
        exec "$0"
        """;

    private readonly TemporaryFolder _temporary = new();

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Server_without_ICU_reports_the_missing_package()
    {
        Assert.SkipUnless(File.Exists(ServerForm.AheadFile), "the server is not compiled ahead here");
        Assert.SkipUnless(OperatingSystem.IsLinux() && Environment.IsPrivilegedProcess, "only root can hide a library");
        ExternalProgram.Require("unshare", "mount", "ldconfig");
        var variables = new Dictionary<string, string> { ["CONFIG_PATH"] = _temporary.Root, ["PORT"] = "0" };

        var result = await ExternalProgram.RunAsync(
            "unshare", ["--mount", "--propagation", "private", "sh", "-c", WithoutUnicode, ServerForm.AheadFile], variables, TestContext.Current.CancellationToken);

        Assert.Equal("sluice: the library ICU is missing; install it with apt-get install '^libicu..$' (Debian, Ubuntu) or dnf install libicu (Fedora)\n", result.Errors);
        Assert.Equal(78, result.ExitCode);
    }
}
