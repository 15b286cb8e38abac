using System.Text.RegularExpressions;
using Sluice.Server.Tests.EndToEnd;
using Xunit;

namespace Sluice.Server.Tests.WebDav;

/// <summary>Litmus, the conformance suite of the WebDAV community, against the product's handlers over a writable tree (DAV-90).</summary>
public sealed partial class LitmusTests
{
    [Fact]
    [Trait("Category", "EndToEnd")]
    public async Task All_104_litmus_tests_pass()
    {
        ExternalProgram.Require("litmus");
        await using var server = await DavTestServer.StartWritableAsync();
        var folder = Directory.CreateTempSubdirectory("sluice-litmus-");
        try
        {
            // litmus writes its log into the current folder.
            var result = await ExternalProgram.RunAsync(
                "sh", ["-c", "cd \"$1\" && exec litmus --keep-going \"$2\"", "sh", folder.FullName, server.Address.AbsoluteUri],
                variables: null, TestContext.Current.CancellationToken);

            var summaries = Summary().Matches(result.Text)
                .Select(match => (Suite: match.Groups[1].Value, Run: Number(match.Groups[2]), Passed: Number(match.Groups[3])))
                .ToList();
            Assert.True(
                summaries is [("basic", 16, 16), ("copymove", 13, 13), ("props", 30, 30), ("locks", 41, 41), ("http", 4, 4)],
                result.Text);
            Assert.DoesNotContain("WARNING", result.Text, StringComparison.Ordinal);
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    private static int Number(Group group) => int.Parse(group.Value, System.Globalization.CultureInfo.InvariantCulture);

    [GeneratedRegex(@"summary for `(\w+)': of (\d+) tests run: (\d+) passed")]
    private static partial Regex Summary();
}
