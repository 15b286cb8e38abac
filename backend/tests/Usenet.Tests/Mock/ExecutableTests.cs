using System.Diagnostics;
using System.Net;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Usenet.Tests.Mock;

public sealed class ExecutableTests
{
    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Executable_follows_its_flags_and_serves_until_stdin_closes()
    {
        var folder = Directory.CreateTempSubdirectory("mock-");
        try
        {
            var nzb = Path.Combine(folder.FullName, "release.nzb");
            var authority = Path.Combine(folder.FullName, "with space.pem");
            using var process = Start(
                "--size=1", "--files", "2", "--article-size=100000", "--seed=5", "--providers=2", "--tls=valid,false", "--latency=0", "--jitter=0", "--coverage=1.0,0",
                "--preload", $"--nzb={nzb}", $"--ca-file={authority}", "--exit-with-stdin");
            Assert.True(ReadyLine.TryParse(await process.StandardError.ReadLineAsync(Cancelled), out var ready));
            Assert.Equal((2, authority), (ready.Providers.Count, ready.AuthorityFile));

            var release = MockRelease.Plain(5, 1 << 20, files: 2, articleSize: 100_000);
            Assert.Equal(release.ToNzb(), await File.ReadAllBytesAsync(nzb, Cancelled));
            await using var client = await RawClient.ConnectAsync(ready.Providers[0].Port);
            await client.SecureAsync(await File.ReadAllTextAsync(authority, Cancelled));
            Assert.StartsWith("200 ", await client.ReadLineAsync(), StringComparison.Ordinal);
            var truth = new byte[100_000];
            release.Fill(1, 100_000, truth);
            Assert.Equal(truth, RawArticle.Parse(await client.ReadBodyAsync(release.MessageId(1, 2))).Decoded);
            await using var second = await RawClient.OpenAsync(ready.Providers[1].Port);
            Assert.StartsWith("430 ", await second.AskAsync($"BODY <{release.MessageId(1, 2)}>"), StringComparison.Ordinal);
            using var http = new HttpClient();
            Assert.Contains("\"coverage\": 1", await http.GetStringAsync(new Uri($"http://{ready.Control}/stats"), Cancelled), StringComparison.Ordinal);

            process.StandardInput.Close();
            await process.WaitForExitAsync(Cancelled);
            Assert.Equal(0, process.ExitCode);
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    [Theory]
    [InlineData("--colour=red")]
    [InlineData("--latency=fast")]
    [InlineData("--size")]
    [InlineData("--layout=rar9")]
    public async Task Wrong_flags_are_usage_errors(string flag)
    {
        using var process = Start(flag);
        Assert.Contains(flag.Split('=')[0][2..], await process.StandardError.ReadLineAsync(Cancelled), StringComparison.Ordinal);
        await process.WaitForExitAsync(Cancelled);
        Assert.Equal(2, process.ExitCode);
    }

    [Fact]
    public void Ready_line_round_trips()
    {
        var line = new ReadyLine([IPEndPoint.Parse("127.0.0.1:1"), IPEndPoint.Parse("127.0.0.1:2")], IPEndPoint.Parse("127.0.0.1:3"), null);
        Assert.True(ReadyLine.TryParse(line.ToString(), out var read));
        Assert.Equal(line.ToString(), read.ToString());
        Assert.Null(read.AuthorityFile);
        Assert.False(ReadyLine.TryParse("something else", out _));
    }

    private static Process Start(params string[] flags)
    {
        // The test output contains the mock next to its own runtime configuration.
        var start = new ProcessStartInfo("dotnet") { RedirectStandardError = true, RedirectStandardInput = true };
        start.ArgumentList.Add(Path.Combine(AppContext.BaseDirectory, typeof(MockServer).Assembly.GetName().Name + ".dll"));
        foreach (var flag in flags)
            start.ArgumentList.Add(flag);
        return Process.Start(start)!;
    }
}
