using System.Diagnostics;
using System.Globalization;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Tests.EndToEnd;
using Xunit;

namespace Sluice.Server.Tests.Startup;

/// <summary>The built program as started by containers: as root with <c>PUID</c> and <c>PGID</c>, as another user, and over folders of others (S28).</summary>
public sealed class ProcessUserTests : IDisposable
{
    private const string Other = "4321";

    private readonly Database.TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Theory]
    [InlineData("1234", "2345", "1234:2345")]
    [InlineData("1234", "", "1234:1000")]
    [InlineData("", "2345", "1000:2345")]
    public async Task Root_drops_to_PUID_and_chowns_only_the_folder_itself(string user, string group, string expected)
    {
        RequireRoot();
        var kept = Directory.CreateDirectory(Path.Combine(_temporary.Root, "of-root")).FullName;
        Own(expected, _temporary.Folder.Blobs, _temporary.Folder.Backups, _temporary.Folder.Keys);

        await using var server = await StartAsync([], ("PUID", user), ("PGID", group));

        foreach (var thread in Directory.EnumerateDirectories($"/proc/{server.Id}/task"))
        {
            // The real, effective, saved and file system ids all change, so the process cannot switch back.
            Assert.Equal(Enumerable.Repeat(expected.Split(':')[0], 4), StatusOf(thread, "Uid"));
            Assert.Equal(Enumerable.Repeat(expected.Split(':')[1], 4), StatusOf(thread, "Gid"));
            Assert.Empty(StatusOf(thread, "Groups"));
            Assert.Equal(["0000000000000000"], StatusOf(thread, "CapEff"));
        }

        Assert.Contains($"(owner {expected}, ", PosixCalls.DescribeOwner(_temporary.Root), StringComparison.Ordinal);
        Assert.Contains("(owner 0:0, ", PosixCalls.DescribeOwner(kept), StringComparison.Ordinal);
        Assert.Equal(0, await server.StopAsync(Token));
    }

    [Theory]
    [InlineData("", "")]
    [InlineData("0", "0")]
    public async Task Root_stays_root_without_PUID_and_PGID(string user, string group)
    {
        RequireRoot();

        await using var server = await StartAsync([], ("PUID", user), ("PGID", group));

        Assert.Equal("0", StatusOf($"/proc/{server.Id}", "Uid")[1]);
        Assert.Equal(0, await server.StopAsync(Token));
    }

    [Fact]
    public async Task Root_without_capabilities_exits_with_78_and_a_hint()
    {
        RequireRoot();

        await ExpectAsync(["--bounding-set=-all"], "started as root and may not become 1234:2345 .*start the container as that user .user: \"1234:2345\".", ("PUID", "1234"), ("PGID", "2345"));
    }

    [Fact]
    public async Task Root_owned_folder_exits_with_78_and_a_chown_hint()
    {
        RequireRoot();
        Own("0:0", _temporary.Root);

        await ExpectAsync(
            As("1000"),
            $"configuration folder {_temporary.Root} is not writable by uid 1000 .owner 0:0, mode [0-7]+.; make it this user's .chown -R 1000:1000 {_temporary.Root}., or start the container with PUID=1000 PGID=1000, without user:$");
    }

    [Fact]
    public async Task Folder_of_another_user_exits_with_78_and_a_PUID_hint()
    {
        RequireRoot();
        Own($"{Other}:{Other}", _temporary.Root);

        await ExpectAsync(As("1000"), $"is not writable by uid 1000 .*chown -R 1000:1000 {_temporary.Root}., or start the container with PUID=1000 PGID=1000, without user:$", ("PUID", "1000"), ("PGID", "1000"));
    }

    [Theory]
    [InlineData(true, "or leave the container the capability CHOWN")]
    [InlineData(false, "or start the container with PUID=1234 PGID=2345, without user:")]
    public void Ownership_advice_depends_on_the_user_at_startup(bool startedAsRoot, string advice)
    {
        RequireRoot();
        Own($"{Other}:{Other}", _temporary.Root);

        Assert.Equal(
            $"; make it this user's (chown -R 1234:2345 {_temporary.Root}), {advice}",
            PosixCalls.AdviseOnOwner(_temporary.Root, _temporary.Root, 1234, 2345, startedAsRoot));
    }

    [Fact]
    public async Task Root_without_CHOWN_is_advised_to_add_the_capability()
    {
        RequireRoot();
        Own($"{Other}:{Other}", _temporary.Root);

        await ExpectAsync(
            ["--bounding-set=-all,+setgid,+setuid"],
            $"is not writable by uid 1234 .*chown -R 1234:2345 {_temporary.Root}., or leave the container the capability CHOWN$",
            ("PUID", "1234"), ("PGID", "2345"));
    }

    [Fact]
    public async Task Database_of_another_user_exits_with_78_and_a_PUID_hint()
    {
        RequireRoot();
        await File.WriteAllTextAsync(_temporary.Folder.Database, "", Token);
        Unprivileged.SetMode(_temporary.Folder.Database, 0b110_000_000);
        Own("1234:2345", _temporary.Folder.Blobs, _temporary.Folder.Backups, _temporary.Folder.Keys);
        Own($"{Other}:{Other}", _temporary.Folder.Database);

        await ExpectAsync(
            [], $"sluice.db is not readable and writable by uid 1234 .*chown -R 1234:2345 {_temporary.Root}.*PUID={Other} PGID={Other}", ("PUID", "1234"), ("PGID", "2345"));
    }

    [Fact]
    public async Task Wrong_PUID_does_not_chown_the_folder_of_another_database()
    {
        RequireRoot();
        Own($"{Other}:{Other}", _temporary.Root, _temporary.Folder.Blobs, _temporary.Folder.Backups, _temporary.Folder.Keys);
        await using (var first = await StartAsync([], ("PUID", Other), ("PGID", Other)))
            Assert.Equal(0, await first.StopAsync(Token));

        await ExpectAsync([], $"sluice.db is not readable and writable by uid 1234 .owner {Other}:{Other}, .*PUID={Other} PGID={Other}", ("PUID", "1234"), ("PGID", "2345"));

        Assert.Equal((uint.Parse(Other, CultureInfo.InvariantCulture), uint.Parse(Other, CultureInfo.InvariantCulture)), PosixCalls.OwnerOf(_temporary.Root));
        await using var again = await StartAsync([], ("PUID", Other), ("PGID", Other));
        Assert.Equal(0, await again.StopAsync(Token));
    }

    [Fact]
    public async Task Error_names_the_database_owner_if_root_lacks_access()
    {
        RequireRoot();
        // A new named volume has this mode.
        Unprivileged.SetMode(_temporary.Root, 0b111_101_101);
        Own($"{Other}:{Other}", _temporary.Root, _temporary.Folder.Blobs, _temporary.Folder.Backups, _temporary.Folder.Keys);
        await using (var first = await StartAsync([], ("PUID", Other), ("PGID", Other)))
            Assert.Equal(0, await first.StopAsync(Token));

        await ExpectAsync(ComposeCapabilities, $"sluice.db is not readable and writable by uid 0 .*PUID={Other} PGID={Other}", ("PUID", "0"), ("PGID", "0"));
        await using var again = await StartAsync(ComposeCapabilities, ("PUID", Other), ("PGID", Other));
        Assert.Equal(0, await again.StopAsync(Token));
    }

    [Theory]
    [InlineData("1026", "100")]
    [InlineData("0", "0")]
    public async Task Three_capabilities_suffice_if_another_user_owns_the_folder(string user, string group)
    {
        RequireRoot();
        Own($"{Other}:{Other}", _temporary.Root);
        Own($"{user}:{group}", _temporary.Folder.Blobs, _temporary.Folder.Backups, _temporary.Folder.Keys);

        await using var server = await StartAsync(ComposeCapabilities, ("PUID", user), ("PGID", group));

        Assert.Equal(user, StatusOf($"/proc/{server.Id}", "Uid")[1]);
        Assert.Equal(uint.Parse(user, CultureInfo.InvariantCulture), PosixCalls.OwnerOf(_temporary.Root)?.User);
        Assert.Equal(0, await server.StopAsync(Token));
    }

    [Fact]
    public async Task Rootless_engine_ignores_PUID_and_keeps_the_folder_owner()
    {
        RequireRoot();
        ExternalProgram.Require("unshare");
        Own("1000:1000", _temporary.Root, _temporary.Folder.Blobs, _temporary.Folder.Backups, _temporary.Folder.Keys);
        string[] rootless = [.. As("1000"), "unshare", "--user", "--map-root-user"];
        var trial = await ExternalProgram.RunAsync("setpriv", [.. rootless, "true"], null, Token);
        Assert.SkipUnless(trial.ExitCode == 0, "users may not make user namespaces here");

        await using var server = await StartAsync(rootless, ("PUID", "1000"), ("PGID", "1000"));

        await server.LineAsync(line => line.Contains("PUID=1000 is not used, because under a rootless engine", StringComparison.Ordinal), Token);
        Assert.Equal("1000", StatusOf($"/proc/{server.Id}", "Uid")[1]);
        Assert.Equal((1000u, 1000u), PosixCalls.OwnerOf(_temporary.Root));
        Assert.Equal(0, await server.StopAsync(Token));
    }

    [Theory]
    [InlineData("         0       1000          1\n         1     100000      65536\n", true)]
    [InlineData("         0          0 4294967295\n", false)]
    [InlineData("         0     100000      65536\n", false)]
    [InlineData("         0          1       1000\n      1000          0          1\n", false)]
    [InlineData("         0          0          1\n", false)]
    [InlineData("", false)]
    public void Rootless_engine_is_detected_from_the_user_namespace_map(string map, bool expected) => Assert.Equal(expected, ProcessUser.IsOneUserAsRoot(map));

    [Fact]
    public async Task PUID_without_root_logs_a_warning()
    {
        RequireRoot();
        Own("1000:1000", _temporary.Root, _temporary.Folder.Blobs, _temporary.Folder.Backups, _temporary.Folder.Keys);

        await using var server = await StartAsync(As("1000"), ("PUID", "1234"), ("PGID", "2345"));

        await server.LineAsync(line => line.Contains("PUID has no effect, because Sluice was started as uid 1000 and not as root; start it as user 1234:2345", StringComparison.Ordinal), Token);
        Assert.Equal(0, await server.StopAsync(Token));
    }

    private static void RequireRoot()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux() && Environment.IsPrivilegedProcess, "only root can become another user");
        ExternalProgram.Require("setpriv", "chown");
    }

    // The compose file starts the image with exactly these capabilities.
    private static string[] ComposeCapabilities => ["--bounding-set=-all,+chown,+setgid,+setuid"];

    private static string[] As(string user) => ["--reuid", user, "--regid", user, "--clear-groups"];

    private static void Own(string owner, params string[] paths)
    {
        using var process = Process.Start("chown", [owner, .. paths]);
        process.WaitForExit();
        Assert.Equal(0, process.ExitCode);
    }

    /// <summary>Returns the values in a line of <c>status</c> below <c>/proc</c>.</summary>
    private static string[] StatusOf(string process, string name) =>
        File.ReadLines(Path.Combine(process, "status")).Single(line => line.StartsWith(name + ":", StringComparison.Ordinal))[(name.Length + 1)..]
            .Split([' ', '\t'], StringSplitOptions.RemoveEmptyEntries);

    private Task<ServerProcess> StartAsync(string[] privileges, params (string Name, string Value)[] variables) =>
        ServerProcess.StartAsync("setpriv", [.. privileges, ServerProcess.Executable], _temporary.Root, ServerProcess.FreePort(), Variables(variables), Token);

    private async Task ExpectAsync(string[] privileges, string pattern, params (string Name, string Value)[] variables)
    {
        var all = Variables(variables);
        all["CONFIG_PATH"] = _temporary.Root;
        all["PORT"] = "0";
        var result = await ExternalProgram.RunAsync("setpriv", [.. privileges, ServerProcess.Executable], all, Token);

        Assert.Equal(78, result.ExitCode);
        Assert.Matches("^sluice: .*" + pattern, Assert.Single(result.Errors.Split('\n', StringSplitOptions.RemoveEmptyEntries)));
    }

    private Dictionary<string, string> Variables((string Name, string Value)[] variables) =>
        variables.Append(("HOME", _temporary.Root)).ToDictionary(variable => variable.Item1, variable => variable.Item2);
}
