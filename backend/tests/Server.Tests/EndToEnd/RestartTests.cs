using System.Globalization;
using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>Downloads resume after a restart of the server has interrupted them, and end with the bytes of the film.</summary>
public sealed class RestartTests
{
    private const int BytesPerSecond = 4_000_000;
    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(50);

    // Longer than curl's pauses to limit its rate.
    private static readonly TimeSpan Settling = TimeSpan.FromSeconds(1.5);

    private long _byCurl;
    private long _byRclone;

    [Fact]
    [Trait("Category", EndToEndRun.Name)]
    public Task Curl_and_rclone_downloads_survive_a_kill_and_a_stop() =>
        DownloadAsync(new SyntheticFilm(11, 120_000_000, 716_800), restarts: 2, apart: 15_000_000);

    [Fact]
    [Trait("Category", EndToEndRun.Lengthy)]
    public Task Curl_and_rclone_downloads_survive_a_restart_every_20_s() =>
        DownloadAsync(new SyntheticFilm(12, 1_200_000_000, 716_800), restarts: 14, apart: 20 * BytesPerSecond);

    /// <summary>
    /// Both programs download at the rate of a player. The server restarts each time both have progressed by <paramref name="apart"/>
    /// bytes and have received data since the last restart.
    /// </summary>
    private async Task DownloadAsync(SyntheticFilm film, int restarts, long apart)
    {
        ExternalProgram.Require("curl", "rclone");
        var cancel = TestContext.Current.CancellationToken;
        await using var set = await MockedServer.StartAsync(new MockOptions(), null, cancel);
        await film.PublishAsync(set.Client, cancel);
        var tag = await TagAsync(set, film, cancel);

        var url = $"{set.Client.Authority}/{film.Path}";
        var curl = RunCurlAsync(url, set.File("by-curl"), film, cancel);
        var rclone = RunRcloneAsync(set, set.File("by-rclone"), film, cancel);
        long curlSince = 0, rcloneSince = 0;
        for (var restart = 1; restart <= restarts; restart++)
        {
            var least = restart * apart;
            await ReachAsync(Math.Max(least, curlSince + 1), Math.Max(least, rcloneSince + 1), curl, rclone, cancel);
            if (restart % 2 == 0)
                Assert.Equal(0, await set.Server.StopAsync(cancel));
            else
                await set.Server.KillAsync();
            // Only growth beyond this size comes from the next server; a program that has not reconnected would miss the next restart.
            (curlSince, rcloneSince) = (await SettledAsync(set.File("by-curl"), cancel), await SettledAsync(set.File("by-rclone"), cancel));
            await set.RestartAsync(null, cancel);
            Assert.Equal(tag, await TagAsync(set, film, cancel));
        }

        // A restart that does not interrupt a download would test nothing.
        Assert.InRange(await curl, restarts, int.MaxValue);
        Assert.InRange(await rclone, restarts, int.MaxValue);
    }

    private static async Task<string> TagAsync(MockedServer set, SyntheticFilm film, CancellationToken cancel)
    {
        using var answer = await set.Client.OpenAsync(film.Path, 0, 0, cancel);
        return answer.Headers.ETag!.ToString();
    }

    private async Task ReachAsync(long byCurl, long byRclone, Task curl, Task rclone, CancellationToken cancel)
    {
        while (Volatile.Read(ref _byCurl) < byCurl || Volatile.Read(ref _byRclone) < byRclone)
        {
            if (curl.IsFaulted || rclone.IsFaulted)
                await Task.WhenAny(curl, rclone).Unwrap();
            Assert.False(curl.IsCompleted || rclone.IsCompleted, "A download ended before its restarts.");
            await Task.Delay(Poll, TimeProvider.System, cancel);
        }
    }

    /// <summary>Waits until a download stops growing: without a server, the system still delivers buffered bytes at the limited rate.</summary>
    private static async Task<long> SettledAsync(string target, CancellationToken cancel)
    {
        while (true)
        {
            var length = new FileInfo(target).Length;
            await Task.Delay(Settling, TimeProvider.System, cancel);
            if (new FileInfo(target).Length == length)
                return length;
        }
    }

    /// <summary>Runs curl again until it has the whole film.</summary>
    /// <returns>How often an answer was interrupted.</returns>
    private async Task<int> RunCurlAsync(string url, string target, SyntheticFilm film, CancellationToken cancel)
    {
        const int Refused = 7;
        var cuts = 0;
        while (true)
        {
            var (code, log) = await DownloadAsync(
                "curl", ["-sS", "--fail", "-C", "-", "--limit-rate", Rate, "-o", target, url], null,
                target, bytes => Volatile.Write(ref _byCurl, bytes), cancel);
            if (code == 0)
                break;
            // Any other exit code, such as that for a refused range, a wrong length or an error status, is a failure.
            Assert.True(code is Refused or 18 or 52 or 56, $"curl ended with {code}: {log}");
            if (code != Refused)
                cuts++;
        }

        await AssertEqualAsync(film, target, cancel);
        return cuts;
    }

    /// <summary>Runs rclone once; it reopens the film by itself after each interruption.</summary>
    /// <returns>How often it reopened the film.</returns>
    private async Task<int> RunRcloneAsync(MockedServer set, string target, SyntheticFilm film, CancellationToken cancel)
    {
        var (code, log) = await DownloadAsync(
            "rclone", ["copyto", "-vv", "--bwlimit", Rate + "B", "--low-level-retries", "1000", "--retries", "1", $"sluice:{film.Path}", target],
            await RcloneRemote.ForAsync(set, cancel),
            target, bytes => Volatile.Write(ref _byRclone, bytes), cancel);
        Assert.True(code == 0, $"rclone ended with {code}: {log}");
        await AssertEqualAsync(film, target, cancel);
        return log.Split('\n').Count(line => line.Contains("Reopening on read failure", StringComparison.Ordinal));
    }

    private static string Rate => BytesPerSecond.ToString(CultureInfo.InvariantCulture);

    /// <summary>Runs a program that downloads into a file, and reports its progress.</summary>
    private static async Task<(int Code, string Log)> DownloadAsync(
        string program, IEnumerable<string> arguments, IReadOnlyDictionary<string, string>? variables,
        string target, Action<long> reached, CancellationToken cancel)
    {
        var end = ExternalProgram.RunAsync(program, arguments, variables, cancel);
        while (!end.IsCompleted)
        {
            reached(File.Exists(target) ? new FileInfo(target).Length : 0);
            await Task.WhenAny(end, Task.Delay(Poll, TimeProvider.System, cancel));
        }

        var result = await end;
        return (result.ExitCode, result.Errors);
    }

    private static async Task AssertEqualAsync(SyntheticFilm film, string path, CancellationToken cancel)
    {
        await using var file = File.OpenRead(path);
        Assert.Equal(film.Size, file.Length);
        var buffer = new byte[1 << 20];
        long offset = 0;
        while (await file.ReadAsync(buffer, cancel) is > 0 and var read)
        {
            film.AssertEqual(offset, buffer.AsSpan(0, read));
            offset += read;
        }
    }
}
