using System.Globalization;
using System.Runtime.Versioning;
using Sluice.Server.Tests.EndToEnd;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Gate;

/// <summary>The choice of <c>tools/parts.sh</c>, over git histories in a temporary folder.</summary>
[SupportedOSPlatform("linux")]
public sealed class PartChoiceTests : IDisposable
{
    private const string Queue = "backend/src/Server/Queue/Some.cs";
    private const string Streams = "backend/src/Usenet/Streams/Some.cs";
    private const string Page = "docs/some.md";

    private readonly ScratchFolder _scratch = new();
    private readonly PartScript _parts;
    private readonly string _root;

    public PartChoiceTests()
    {
        ExternalProgram.Require("git", "bash");
        _root = _scratch.File("copy");
        _parts = new PartScript(_root);
        Directory.CreateDirectory(Path.Combine(_root, "tools"));
        File.Copy(Repository.PathOf("tools/parts.sh"), Path.Combine(_root, "tools/parts.sh"));
        File.WriteAllText(Path.Combine(_root, ".gitignore"), "artifacts/\n");
    }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _scratch.Dispose();

    [Fact]
    public async Task Change_within_a_day_makes_its_test_part_due()
    {
        await BeginAsync();
        await CommitAsync(Queue, "changed", hours: 30);

        var due = await DueAsync();

        Assert.Equal(["kills"], due.Keys);
        Assert.StartsWith($"{Queue} differs from ", due["kills"], StringComparison.Ordinal);
    }

    [Fact]
    public async Task Change_a_day_older_than_HEAD_is_not_due()
    {
        await BeginAsync();
        await CommitAsync(Queue, "changed", hours: 30);
        await CommitAsync(Page, "changed", hours: 30 + 24);

        Assert.Empty(await DueAsync());
    }

    [Fact]
    public async Task New_merge_of_old_commits_makes_a_part_due()
    {
        await BeginAsync();
        await GitAsync("switch", "-q", "-c", "side");
        await CommitAsync(Streams, "changed", hours: 1);
        await GitAsync("switch", "-q", "main");
        await CommitAsync(Page, "first", hours: 30);
        await CommitAsync(Page, "second", hours: 80);
        await GitAsync(81, "merge", "-q", "--no-ff", "-m", "merge", "side");

        Assert.Equal(["soak"], (await DueAsync()).Keys);
    }

    [Fact]
    public async Task Rebased_commit_with_an_old_author_date_is_due()
    {
        await BeginAsync();
        await GitAsync("switch", "-q", "-c", "side");
        await CommitAsync(Queue, "changed", hours: 1);
        await GitAsync("switch", "-q", "main");
        await CommitAsync(Page, "changed", hours: 100);
        await GitAsync("switch", "-q", "side");
        await GitAsync(101, "rebase", "-q", "main");

        Assert.Equal(["kills"], (await DueAsync()).Keys);
    }

    [Fact]
    public async Task Change_and_revert_within_a_day_are_not_due()
    {
        await BeginAsync();
        await CommitAsync(Queue, "changed", hours: 30);
        await CommitAsync(Queue, "first", hours: 31);

        Assert.Empty(await DueAsync());
    }

    [Theory]
    [InlineData(Queue)]
    [InlineData("backend/src/Server/Queue/Inner/Untracked.cs")]
    public async Task Uncommitted_work_is_due(string path)
    {
        await BeginAsync();
        await CommitAsync(Page, "changed", hours: 30);
        Write(path, "in progress");

        Assert.Equal(["kills"], (await DueAsync()).Keys);
    }

    [Fact]
    public async Task Ignored_files_are_not_due()
    {
        await BeginAsync();
        Write("backend/src/Server/Queue/artifacts/made.txt", "by a build");
        await CommitAsync(Page, "changed", hours: 30);

        Assert.Empty(await DueAsync());
    }

    [Fact]
    public async Task Shallow_clone_makes_every_part_due()
    {
        await BeginAsync();
        await CommitAsync(Page, "changed", hours: 30);
        var clone = _scratch.File("clone");
        await GitAsync("clone", "-q", "--depth", "1", $"file://{_root}", clone);

        var choice = await new PartScript(clone).ChooseAsync();

        Assert.All(choice.Values, part => Assert.Equal((true, "the clone is shallow"), (part.Runs, part.Why)));
    }

    [Fact]
    public async Task Clone_chooses_the_same_parts_as_the_original()
    {
        await BeginAsync();
        await CommitAsync(Queue, "changed", hours: 30);
        var clone = _scratch.File("clone");
        await GitAsync("clone", "-q", $"file://{_root}", clone);

        Assert.Equal(await _parts.ChooseAsync(), await new PartScript(clone).ChooseAsync());
    }

    [Fact]
    public async Task Without_git_every_part_is_due()
    {
        var choice = await _parts.ChooseAsync();

        Assert.All(choice.Values, part => Assert.Equal((true, "no git history"), (part.Runs, part.Why)));
    }

    [Fact]
    public async Task History_shorter_than_a_day_makes_every_part_due()
    {
        await BeginAsync();

        Assert.All(await _parts.ChooseAsync(), part => Assert.True(part.Value.Runs));
    }

    [Fact]
    public async Task Passed_content_is_not_due_until_it_changes()
    {
        await BeginAsync();
        await CommitAsync(Queue, "changed", hours: 30);
        await CommitAsync(Streams, "changed", hours: 31);
        await _parts.PassAsync("kills", (await _parts.ChooseAsync())["kills"].Hash);

        var passed = await _parts.ChooseAsync();
        Write(Queue, "changed again");
        var changed = await _parts.ChooseAsync();

        Assert.Equal((false, true), (passed["kills"].Runs, passed["soak"].Runs));
        Assert.StartsWith("passed with this content on ", passed["kills"].Why, StringComparison.Ordinal);
        Assert.True(changed["kills"].Runs);
    }

    [Fact]
    public async Task Rename_or_new_file_mode_changes_the_hash_of_a_part()
    {
        await BeginAsync();
        await CommitAsync(Page, "changed", hours: 30);
        var before = (await _parts.ChooseAsync())["kills"].Hash;
        File.SetUnixFileMode(Path.Combine(_root, Queue), UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        var executable = (await _parts.ChooseAsync())["kills"].Hash;
        File.Move(Path.Combine(_root, Queue), Path.Combine(_root, "backend/src/Server/Queue/Other.cs"));
        var moved = (await _parts.ChooseAsync())["kills"].Hash;

        Assert.Distinct([before, executable, moved]);
    }

    [Fact]
    public async Task One_part_runs_in_rotation_if_none_is_due()
    {
        await BeginAsync();
        await CommitAsync(Queue, "changed", hours: 30);
        await CommitAsync(Page, "changed", hours: 60);

        var choice = await _parts.ChooseAsync();

        Assert.StartsWith("its turn today; ", Assert.Single(choice.Values, part => part.Runs).Why, StringComparison.Ordinal);
        Assert.Contains(" of 2026-01-02", choice["kills"].Why, StringComparison.Ordinal);
    }

    /// <summary>Creates the first commit, with files in two rooms and one outside of all rooms.</summary>
    private async Task BeginAsync()
    {
        await GitAsync("init", "-q", "-b", "main");
        Write(Queue, "first");
        Write(Streams, "first");
        await CommitAsync(Page, "initial", hours: 0);
    }

    private async Task CommitAsync(string path, string text, int hours)
    {
        Write(path, text);
        await GitAsync("add", "-A");
        await GitAsync(hours, "commit", "-q", "-m", $"{path}: {text}");
    }

    private void Write(string path, string text)
    {
        var full = Path.Combine(_root, path);
        Directory.CreateDirectory(Path.GetDirectoryName(full)!);
        File.WriteAllText(full, text);
    }

    /// <summary>Returns the parts that are due with the reason, without the part whose turn it is.</summary>
    private async Task<Dictionary<string, string>> DueAsync() =>
        (await _parts.ChooseAsync()).Where(part => part.Value.Runs && !part.Value.Why.StartsWith("its turn", StringComparison.Ordinal))
        .ToDictionary(part => part.Key, part => part.Value.Why);

    private Task GitAsync(params string[] arguments) => GitAsync(0, arguments);

    private async Task GitAsync(int hours, params string[] arguments)
    {
        var date = new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero).AddHours(hours).ToString("yyyy-MM-dd'T'HH:mm:ssK", CultureInfo.InvariantCulture);
        var variables = new Dictionary<string, string>
        {
            ["GIT_CONFIG_GLOBAL"] = "/dev/null",
            ["GIT_CONFIG_SYSTEM"] = "/dev/null",
            ["GIT_AUTHOR_NAME"] = "Somebody",
            ["GIT_AUTHOR_EMAIL"] = "somebody@example.com",
            ["GIT_COMMITTER_NAME"] = "Somebody",
            ["GIT_COMMITTER_EMAIL"] = "somebody@example.com",
            ["GIT_AUTHOR_DATE"] = date,
            ["GIT_COMMITTER_DATE"] = date,
        };
        (await ExternalProgram.RunAsync("git", ["-C", _root, .. arguments], variables, Token)).Succeeded();
    }
}
