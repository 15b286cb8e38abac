using System.Text.RegularExpressions;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>Every command in the guides does what its page says, or the page says why no test runs it.</summary>
[Trait("Category", EndToEndRun.Name)]
public sealed partial class GuideTests(GuideServer household) : IClassFixture<GuideServer>
{
    private static readonly TimeSpan BlockLimit = TimeSpan.FromSeconds(60);

    public static TheoryData<string> Pages =>
    [
        .. Directory.EnumerateFiles(Repository.PathOf("docs/guides"), "*.md").Select(static path => $"docs/guides/{Path.GetFileName(path)}").Order(StringComparer.Ordinal),
        "docs/install.md",
        "docs/moving-in.md",
        "docs/running.md",
        "docs/metrics.md",
        "docs/receipts.md",
        "docs/comparison.md",
    ];

    [Theory]
    [MemberData(nameof(Pages))]
    public async Task Guide_commands_work_as_documented(string page)
    {
        ExternalProgram.Require("curl", "ffmpeg", "openssl", "rclone");
        var cancel = TestContext.Current.CancellationToken;
        var commands = GuidePage.Read(File.ReadLines(Repository.PathOf(page))).Where(static block => block.IsCommand).ToArray();
        Assert.All(commands, block => Assert.True(
            block.Language == "sh" || block.Reason is not null, $"{page}:{block.Line} is for no shell that a test has. Mark it <!-- not run: reason -->, or call it sh, text, json, yaml, ini or nginx."));
        Assert.All(commands, block => Assert.True(
            block.Mark is null || block.Reason is not null || block.Condition is not null, $"{page}:{block.Line} has a mark that says nothing: {block.Mark}"));
        try
        {
            foreach (var block in commands.Where(static block => block.Reason is null))
            {
                if (block.Condition is not { } condition || (await household.RunAsync(condition, cancel)).ExitCode == 0)
                    await RunAsync(page, block, cancel);
                else
                    TestContext.Current.TestOutputHelper?.WriteLine($"{page}:{block.Line} cannot run here: {condition}");
            }
        }
        finally
        {
            await household.UnmountAsync();
        }
    }

    [Fact]
    public void Guide_placeholders_match_the_docs_index()
    {
        var explained = Explained().Matches(File.ReadAllText(Repository.PathOf("docs/README.md"))).Select(static match => match.Groups["word"].Value).Order();

        // The first is part of another word; the pages explain the other two where they use them.
        string[] plain = ["nas:3000", "/data/strm-library", "\"news.example.com\", \"port\": 563, \"tls\": true"];
        Assert.Equal(household.Words.Select(static word => word.Word).Except(plain).Order(), explained);
    }

    [Fact]
    public void Guide_links_lead_to_existing_files_and_headings()
    {
        foreach (var page in Pages.Select(static row => row.Data).Append("docs/README.md").Append("README.md"))
        {
            foreach (Match link in Link().Matches(File.ReadAllText(Repository.PathOf(page))))
            {
                var (target, heading) = (link.Groups["file"].Value, link.Groups["heading"].Value);
                var file = target.Length == 0 ? Repository.PathOf(page) : Path.GetFullPath(target, Path.GetDirectoryName(Repository.PathOf(page))!);
                Assert.True(File.Exists(file), $"{page} links to {target}, which is not there.");
                Assert.True(
                    heading.Length == 0 || File.ReadLines(file).Any(line => line.StartsWith('#') && GuidePage.Anchor(line) == heading),
                    $"{page} links to {link.Value}, and there is no such heading.");
            }
        }
    }

    [Fact]
    public void Guide_code_blocks_are_read_with_marks_and_output()
    {
        var blocks = GuidePage.Read("a\n\n<!-- not run: needs a television -->\n```sh\none\n```\n\n```text\nshown …\n```\n```text\nalone\n```\n<!-- runs if: true -->\n```sh\ntwo\n```".Split('\n'));

        Assert.Equal(
            [
                new GuideBlock(4, "sh", "one", "not run: needs a television", "shown …"),
                new GuideBlock(11, "text", "alone", null, null),
                new GuideBlock(15, "sh", "two", "runs if: true", null),
            ],
            blocks);
        Assert.Equal(("needs a television", null), (blocks[0].Reason, blocks[0].Condition));
        Assert.Equal((null, "true"), (blocks[2].Reason, blocks[2].Condition));
        Assert.True(GuidePage.Shows("a … c\n…", "a b c\nd\n"));
        Assert.False(GuidePage.Shows("a … c", "a b c d"));
    }

    private async Task RunAsync(string page, GuideBlock block, CancellationToken cancel)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancel);
        limit.CancelAfter(BlockLimit);
        ProgramResult result;
        try
        {
            result = await household.RunAsync(block.Text, limit.Token);
        }
        catch (OperationCanceledException) when (!cancel.IsCancellationRequested)
        {
            Assert.Fail($"{page}:{block.Line} does not end:\n{block.Text}");
            return;
        }

        Assert.True(result.ExitCode == 0, $"{page}:{block.Line} ended with exit code {result.ExitCode}:\n{block.Text}\n{result.Text}\n{result.Errors}");
        if (block.Output is { } expected)
            Assert.True(GuidePage.Shows(household.Here(expected), result.Text), $"{page}:{block.Line} should show\n{household.Here(expected)}\nand shows\n{result.Text}");
    }

    [GeneratedRegex(@"\]\((?!https?:)(?<file>[^)#]*)(#(?<heading>[^)]+))?\)")]
    private static partial Regex Link();

    [GeneratedRegex(@"^\| `(?<word>[A-Za-z0-9_:/.-]+)` \|", RegexOptions.Multiline)]
    private static partial Regex Explained();
}
