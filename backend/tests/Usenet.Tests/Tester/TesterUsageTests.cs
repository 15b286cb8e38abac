using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Layouts;
using Xunit;

namespace Sluice.Usenet.Tests.Tester;

public sealed class TesterUsageTests
{
    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData("")]
    [InlineData("--mock-server --colour=red")]
    [InlineData("--mock-server --server=http://127.0.0.1:3000")]
    [InlineData("--mock-server --server=127.0.0.1 --api-key-env=PATH --webdav-pass-env=PATH")]
    [InlineData("--mock-server --server=http://u:p@127.0.0.1:3000 --api-key-env=PATH --webdav-pass-env=PATH")]
    [InlineData("--mock-server --server=http://127.0.0.1:3000 --api-key-env=NO_SUCH_VARIABLE_HERE --webdav-pass-env=PATH")]
    [InlineData("--mock-server --server=http://127.0.0.1:3000 --api-key-env=PATH --webdav-pass-env=PATH --pid=2000000000")]
    [InlineData("film.nzb --server=http://127.0.0.1:3000 --api-key-env=PATH --webdav-pass-env=PATH --ceiling")]
    [InlineData("--mock-server --volumes 20")]
    [InlineData("--mock-server --playback=1 --imports=5")]
    [InlineData("--mock-server --storm=0")]
    [InlineData("--mock-server --soak=2000")]
    [InlineData("--mock-server --latency=soon")]
    [InlineData("--mock-server --layout=rar3")]
    [InlineData("--mock-server --steps=3-1")]
    [InlineData("--mock-server --steps=8")]
    [InlineData("--mock-server --size=0")]
    [InlineData("--mock-server --connections=many")]
    [InlineData("--mock-server --missing=x")]
    [InlineData("--mock-server --media=/no/such/file")]
    [InlineData("--mock-server --faults=/no/such/file")]
    [InlineData("--mock-server --host=127.0.0.1")]
    [InlineData("--mock-server --compare=/no/such/file")]
    [InlineData("--mock-server --size=1 --playback=1 --readers=2")]
    [InlineData("/no/such.nzb --host=127.0.0.1")]
    [InlineData("film.nzb")]
    [InlineData("film.nzb --host=127.0.0.1 --pass-env=NO_SUCH_VARIABLE_HERE")]
    [InlineData("film.nzb --providers-file=/no/such/file")]
    public async Task Invalid_flags_exit_with_code_2_and_an_explanation(string line)
    {
        var call = await TesterCall.RunAsync(line.Split(' ', StringSplitOptions.RemoveEmptyEntries), Cancelled);
        call.AssertExit(2);
        Assert.Contains("--help", call.Error, StringComparison.Ordinal);
        Assert.True(call.Error.Split('\n')[0].Length > 10, call.Error);
    }

    [Fact]
    public async Task Foreign_nzb_with_the_mock_exits_with_code_2()
    {
        var call = await TesterCall.SmallAsync(Repository.Fixture("posts/raw-mkv.nzb"));
        call.AssertExit(2);
    }

    [Fact]
    public async Task Legacy_flag_is_accepted_and_hidden_from_help()
    {
        var call = await TesterCall.RunAsync(["--test-full-nzb", "--help"], Cancelled);
        call.AssertExit(0);
        Assert.Contains("--verify-before-serve", call.Output, StringComparison.Ordinal);
        Assert.DoesNotContain("--test-full-nzb", call.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Dotnet_run_in_backend_runs_the_tester()
    {
        var configuration = new DirectoryInfo(AppContext.BaseDirectory).Parent!.Name;
        var start = new ProcessStartInfo("dotnet", ["run", "--no-build", "-c", configuration, "--", "--test-full-nzb", .. TesterCall.SmallRelease, "--steps=7", "--quiet"])
        {
            WorkingDirectory = Repository.PathOf("backend"),
            RedirectStandardOutput = true,
        };
        using var run = Process.Start(start)!;
        var output = await run.StandardOutput.ReadToEndAsync(Cancelled);
        await run.WaitForExitAsync(Cancelled);
        Assert.True(run.ExitCode == 0, output);
        Assert.Contains("== Sluice FullNzbTester", output, StringComparison.Ordinal);
    }

    [Fact]
    public void Backend_has_a_project_and_a_solution_with_the_same_name()
    {
        // MSBuild prefers the solution if both have one name, and otherwise refuses to choose.
        string[] files = [.. Directory.GetFiles(Repository.PathOf("backend"), "*.*proj"), .. Directory.GetFiles(Repository.PathOf("backend"), "*.sln*")];
        Assert.Equal(["Backend", "Backend"], files.Select(Path.GetFileNameWithoutExtension));
    }

    [Fact]
    public async Task Non_nzb_file_exits_with_code_4_and_the_reason()
    {
        var call = await TesterCall.SmallAsync(Repository.Fixture("posts/manifest.json"));
        call.AssertExit(4);
        Assert.Contains("NotAnNzb", call.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Unreachable_provider_exits_with_code_5()
    {
        // A port that was free a moment ago and has no listener.
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        var port = ((IPEndPoint)listener.LocalEndpoint).Port;
        listener.Stop();
        var call = await TesterCall.RunAsync([Repository.Fixture("posts/raw-mkv.nzb"), "--host=127.0.0.1", $"--port={port}", "--ssl=false", "--quiet"], Cancelled);
        call.AssertExit(5);
    }

    [Fact]
    public async Task Providers_file_reads_a_real_post_and_prints_no_secret()
    {
        await using var mock = await MockServer.StartAsync(new MockOptions
        {
            Providers = [new MockProvider { User = "walter", Password = "s3cretive" }],
            Spool = Repository.Fixture("posts/raw-mkv"),
        });
        var folder = Directory.CreateTempSubdirectory("tester-");
        try
        {
            var providers = Path.Combine(folder.FullName, "providers.json");
            await File.WriteAllTextAsync(
                providers,
                $$"""{"Providers":[{"Nickname":"spool","Host":"127.0.0.1","Port":{{mock.Port}},"UseSsl":false,"User":"walter","Pass":"s3cretive","MaxConnections":3,"Type":1}]}""",
                Cancelled);
            var json = Path.Combine(folder.FullName, "result.json");
            var call = await TesterCall.RunAsync([Repository.Fixture("posts/raw-mkv.nzb"), $"--providers-file={providers}", "--provider=spool", $"--json={json}"], Cancelled);
            call.AssertExit(0);

            var printed = call.Output + call.Error + await File.ReadAllTextAsync(json, Cancelled);
            Assert.DoesNotContain("walter", printed, StringComparison.Ordinal);
            Assert.DoesNotContain("s3cretive", printed, StringComparison.Ordinal);
            Assert.Contains("user w...", printed, StringComparison.Ordinal);
            Assert.Contains("Matroska", call.Output, StringComparison.Ordinal);
            Assert.Contains("not compared", call.Summary[^3], StringComparison.Ordinal);
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    [Fact]
    public async Task Command_line_user_is_masked_in_the_output()
    {
        await using var mock = await MockServer.StartAsync(new MockOptions { Spool = Repository.Fixture("posts/raw-mkv") });
        var call = await TesterCall.RunAsync(
            [Repository.Fixture("posts/raw-mkv.nzb"), "--host=127.0.0.1", $"--port={mock.Port}", "--ssl=false", "--user", "walter", "--steps=1", "--json=-"], Cancelled);
        call.AssertExit(0);
        Assert.DoesNotContain("walter", call.Output + call.Error, StringComparison.Ordinal);
        Assert.Contains("w...", call.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Compressed_archive_exits_with_code_4_and_the_reason()
    {
        var archive = new ArchiveLayout { Format = LayoutFormat.Rar5, Volumes = 2, Entries = [new("film.mkv", 50_000) { IsCompressed = true }] };
        var release = new ReleaseBuilder("Packed", 3, 9000).AddArchive(archive).Build();
        await using var mock = await MockServer.StartAsync(new MockOptions { Releases = [release] });
        var folder = Directory.CreateTempSubdirectory("tester-");
        try
        {
            var nzb = Path.Combine(folder.FullName, "packed.nzb");
            await File.WriteAllBytesAsync(nzb, release.ToNzb(), Cancelled);
            var call = await TesterCall.RunAsync([nzb, "--host=127.0.0.1", $"--port={mock.Port}", "--ssl=false", "--quiet"], Cancelled);
            call.AssertExit(4);
            Assert.Contains("CompressedArchive", call.Output, StringComparison.Ordinal);
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }
}
