using System.Text.RegularExpressions;
using Sluice.Server.Settings;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests;

/// <summary>The files for building and running the image follow S28 and S31. <c>tools/image.sh</c> builds and starts the image.</summary>
public sealed partial class ContainerFileTests
{
    private static string Dockerfile => File.ReadAllText(Repository.PathOf("docker/Dockerfile"));

    private static string Compose => File.ReadAllText(Repository.PathOf("docker-compose.yml"));

    [Fact]
    public void Every_base_image_is_an_argument_pinned_by_digest()
    {
        var arguments = Argument().Matches(Dockerfile).ToDictionary(match => match.Groups["name"].Value, match => match.Groups["value"].Value);
        string[] stages = [.. Stage().Matches(Dockerfile).Select(match => match.Groups["name"].Value)];
        string[] bases = [.. From().Matches(Dockerfile).Select(match => match.Groups["image"].Value)];

        Assert.All(bases, image => Assert.Matches(@"^\$\{[A-Z_]+\}$", image));
        string[] values = [.. bases.Select(image => arguments[image[2..^1]])];
        Assert.All(values.Except(stages), value => Assert.Matches(@"^[a-z0-9./-]+:[A-Za-z0-9._-]*[0-9]+\.[0-9]+\.[0-9]+[A-Za-z0-9._-]*@sha256:[0-9a-f]{64}$", value));
        Assert.Equal(3, values.Except(stages).Count());
    }

    [Fact]
    public void Image_SDK_matches_global_json()
    {
        var version = Version().Match(File.ReadAllText(Repository.PathOf("backend/global.json"))).Groups["version"].Value;

        Assert.Contains($"SDK_IMAGE=mcr.microsoft.com/dotnet/sdk:{version}-", Dockerfile, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(@"^USER 0:0$")]
    [InlineData(@"^VOLUME /config$")]
    [InlineData(@"^HEALTHCHECK .* CMD \[""sluice"", ""--healthcheck""\]$")]
    [InlineData(@"^ENTRYPOINT \[""/app/sluice""\]$")]
    [InlineData(@"^ENV .*CONFIG_PATH=/config .*PUID=1000 PGID=1000")]
    [InlineData(@"^COPY .*--chown=1000:1000 /config /config$")]
    public void Dockerfile_contains_required_line(string line) => Assert.Matches(new Regex(line, RegexOptions.Multiline), Dockerfile);

    [Fact]
    public void Last_image_stage_runs_no_command()
    {
        var last = Dockerfile[Dockerfile.LastIndexOf("\nFROM ", StringComparison.Ordinal)..];

        Assert.DoesNotContain("\nRUN ", last, StringComparison.Ordinal);
        Assert.DoesNotContain("\nADD ", last, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("read_only: true")]
    [InlineData("cap_drop: [ALL]")]
    [InlineData("cap_add: [CHOWN, SETUID, SETGID]")]
    [InlineData("security_opt: [\"no-new-privileges:true\"]")]
    public void Compose_file_hardens_the_server(string setting) => Assert.Contains($"\n    {setting}\n", Service("sluice"), StringComparison.Ordinal);

    [Fact]
    public void Compose_file_lets_the_server_switch_to_PUID_itself()
    {
        Assert.DoesNotContain("\n    user:", Service("sluice"), StringComparison.Ordinal);
        Assert.Contains("\n      PUID: ${PUID:-1000}\n      PGID: ${PGID:-1000}\n", Service("sluice"), StringComparison.Ordinal);
    }

    [Fact]
    public void Image_and_compose_file_versions_match_the_build()
    {
        var version = BuildVersion().Match(File.ReadAllText(Repository.PathOf("backend/Directory.Build.props"))).Groups["version"].Value;

        Assert.Contains($"\nARG VERSION={version}\n", Dockerfile, StringComparison.Ordinal);
        Assert.Matches($@"\n    image: \$\{{SLUICE_IMAGE:-[a-z0-9./-]+/sluice:{Regex.Escape(version)}\}}\n", Service("sluice"));
    }

    [Fact]
    public void Interface_stage_copies_every_script_it_runs()
    {
        // The build has only those files of tools/ that it copies.
        var copied = Dockerfile[..Dockerfile.IndexOf("AS build", StringComparison.Ordinal)];

        string[] sourced = [.. Sourced().Matches(File.ReadAllText(Repository.PathOf("tools/frontend.sh"))).Select(match => match.Groups["script"].Value)];
        Assert.NotEmpty(sourced);
        Assert.All(sourced, script => Assert.Contains($" tools/{script} ", copied, StringComparison.Ordinal));
    }

    [Fact]
    public void Every_release_workflow_action_is_pinned_to_a_commit()
    {
        var used = Used().Matches(File.ReadAllText(Repository.PathOf(".github/workflows/release.yml"))).Select(match => match.Groups["action"].Value).ToList();

        Assert.NotEmpty(used);
        Assert.All(used, action => Assert.Matches("^actions/[a-z-]+@[0-9a-f]{40} # v[0-9.]+$", action));
    }

    [Fact]
    public void Every_service_except_the_server_has_a_compose_profile()
    {
        Assert.DoesNotContain("profiles:", Service("sluice"), StringComparison.Ordinal);
        Assert.All((string[])["rclone", "sonarr", "radarr", "prowlarr", "jellyfin"], name => Assert.Contains("\n    profiles: [", Service(name), StringComparison.Ordinal));
    }

    [Fact]
    public void Compose_mount_shows_links_at_the_default_mount_dir()
    {
        Assert.Contains(" --links ", Service("rclone"), StringComparison.Ordinal);
        Assert.Matches(@"image: docker\.io/rclone/rclone:(1\.7[1-9]|1\.[89][0-9]|[2-9])\S*@sha256:[0-9a-f]{64}", Service("rclone"));
        Assert.Contains($"${{MOUNT_DIR:-{SettingSchema.All.Single(setting => setting.Key == "rclone.mount-dir").Default}}}", Service("rclone"), StringComparison.Ordinal);
    }

    [Fact]
    public void Example_env_file_lists_every_compose_variable()
    {
        var used = Variable().Matches(Compose).Select(match => match.Groups["name"].Value).Where(name => name != "SLUICE_IMAGE").ToHashSet();
        var shown = Example().Matches(File.ReadAllText(Repository.PathOf("config/env.example"))).Select(match => match.Groups["name"].Value).ToHashSet();

        Assert.Equal(used.Order(), shown.Order());
    }

    [Fact]
    public void Config_folder_holds_only_examples_and_service_files() =>
        Assert.All(Directory.EnumerateFiles(Repository.PathOf("config")), file => Assert.Contains(Path.GetExtension(file), (string[])[".example", ".service"]));

    /// <summary>Returns the lines of a service in the compose file.</summary>
    private static string Service(string name)
    {
        var begin = Compose.IndexOf($"\n  {name}:\n", StringComparison.Ordinal);
        Assert.True(begin >= 0, $"there is no service {name}");
        var end = NextService().Match(Compose, begin + 1);
        return Compose[begin..end.Index];
    }

    [GeneratedRegex(@"^ARG (?<name>[A-Z_]+)=(?<value>\S+)$", RegexOptions.Multiline)]
    private static partial Regex Argument();

    [GeneratedRegex(@"^FROM (?<image>\S+)", RegexOptions.Multiline)]
    private static partial Regex From();

    [GeneratedRegex(@"^FROM \S+ AS (?<name>\S+)$", RegexOptions.Multiline)]
    private static partial Regex Stage();

    [GeneratedRegex(@"""version"": *""(?<version>[^""]+)""")]
    private static partial Regex Version();

    [GeneratedRegex("uses: (?<action>.+)$", RegexOptions.Multiline)]
    private static partial Regex Used();

    [GeneratedRegex(@"<Version>(?<version>[^<]+)</Version>")]
    private static partial Regex BuildVersion();

    [GeneratedRegex(@"^source ""\$root/tools/(?<script>[^""]+)""", RegexOptions.Multiline)]
    private static partial Regex Sourced();

    [GeneratedRegex(@"\$\{(?<name>[A-Z_]+)")]
    private static partial Regex Variable();

    [GeneratedRegex(@"^#(?<name>[A-Z_]+)=", RegexOptions.Multiline)]
    private static partial Regex Example();

    [GeneratedRegex(@"\n(?:  \S|[a-z])(?=[^\n]*:\n)")]
    private static partial Regex NextService();
}
