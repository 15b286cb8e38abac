using System.Text.Json;
using Sluice.Tools.FullNzbTester.Server;
using Sluice.Tools.FullNzbTester.Sessions;
using Xunit;

namespace Sluice.Usenet.Tests.Tester;

/// <summary>Server mode judges the answers of a server. The end-to-end tests run it against the real server.</summary>
public sealed class ServerModeTests
{
    [Fact]
    public async Task Correct_bytes_pass_and_every_metric_is_reported()
    {
        await using var server = new PretendedServer();
        var call = await TesterCall.SmallAsync([.. server.Flags, $"--pid={Environment.ProcessId}", "--seeks=5", "--json=-"]);
        call.AssertExit(0);
        var json = call.Json();
        Assert.Equal("server", json.GetProperty("mode").GetString());
        var metrics = json.GetProperty("metrics");
        Assert.Equal(0, metrics.GetProperty("bytes_wrong").GetInt64());
        Assert.True(metrics.GetProperty("bytes_verified").GetInt64() > 2 << 20);
        Assert.All(
            (string[])["import_ms", "import_cold_ms", "click_to_byte_ms", "ttfb_cold_ms", "ttfb_warm_ms", "seq_mb_s", "cpu_s_per_gib", "rss_idle_mib", "rss_peak_mib"],
            name => Assert.Equal(JsonValueKind.Number, metrics.GetProperty(name).ValueKind));
        Assert.Equal(11 + 5, metrics.GetProperty("articles_per_seek").GetProperty("count").GetInt32());
        Assert.Equal("film.mkv", json.GetProperty("file").GetProperty("name").GetString());
        Assert.Equal(40, json.GetProperty("file").GetProperty("articles").GetInt32());
        Assert.All(json.GetProperty("seeks").EnumerateArray(), seek => Assert.Equal("fresh", seek.GetProperty("stream").GetString()));
    }

    [Fact]
    public async Task Wrong_byte_fails_with_its_offset()
    {
        await using var server = new PretendedServer { WrongAt = 1_234_567 };
        var call = await TesterCall.SmallAsync([.. server.Flags, "--steps=7"]);
        call.AssertExit(1);
        Assert.Contains("first wrong byte of film.mkv at offset 1234567", call.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Truncated_response_is_a_failure()
    {
        await using var server = new PretendedServer { CutAt = 1_000_000 };
        var call = await TesterCall.SmallAsync([.. server.Flags, "--steps=7"]);
        call.AssertExit(1);
        Assert.Contains("the read of film.mkv broke at ", call.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task File_listed_with_a_wrong_length_is_a_failure()
    {
        await using var server = new PretendedServer { Overstated = 1 };
        var call = await TesterCall.SmallAsync([.. server.Flags, "--steps=7"]);
        call.AssertExit(1);
        Assert.Contains("does not list film.mkv with its 2097152 bytes", call.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Failed_import_exits_with_code_4_and_the_server_message()
    {
        await using var server = new PretendedServer { Failure = "The post is gone." };
        var call = await TesterCall.SmallAsync([.. server.Flags, "--steps=7"]);
        call.AssertExit(4);
        Assert.Contains("The post is gone.", call.Error + call.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Parallel_readers_of_one_file_play_without_interruption()
    {
        await using var server = new PretendedServer();
        var call = await TesterCall.SmallAsync([.. server.Flags, "--steps=1", "--playback=0", "--readers=3", "--same-file", "--playback-seconds=1", "--json=-"]);
        call.AssertExit(0);
        Assert.Equal(0, call.Json().GetProperty("metrics").GetProperty("playback").GetProperty("cut_off").GetInt32());
        Assert.True(call.Json().GetProperty("metrics").GetProperty("bytes_verified").GetInt64() > 0);
    }

    [Fact]
    public void Seeds_follow_the_run_number_and_never_repeat()
    {
        var seeds = new FreshSeeds(7);
        var read = new[] { seeds.Next(1, SessionUse.Sequential), seeds.Next(2, SessionUse.Sequential) };
        Assert.Equal(new ulong[] { 7, 8 }, read);
        ulong[] all = [.. read, seeds.Next(1, SessionUse.Playback), seeds.Next(2, SessionUse.Playback), seeds.Next(1, SessionUse.Seeks), seeds.Next(1, SessionUse.Seeks), seeds.Next(2, SessionUse.Seeks)];
        Assert.Equal(all.Length, all.Distinct().Count());
    }

    [Fact]
    public void Dav_listing_has_files_and_no_folders()
    {
        var files = DavListing.Parse(
            """
            <d:multistatus xmlns:d="DAV:"><d:response><d:href>/content/tv/A%20b/</d:href><d:propstat><d:prop><d:getcontentlength>0</d:getcontentlength><d:resourcetype><d:collection/></d:resourcetype></d:prop></d:propstat></d:response>
            <d:response><d:href>/content/tv/A%20b/c%20%231.mkv</d:href><d:propstat><d:prop><d:getcontentlength>123</d:getcontentlength><d:resourcetype/></d:prop></d:propstat></d:response></d:multistatus>
            """,
            new Uri("http://127.0.0.1:3000/content/tv/A%20b/"));
        Assert.Equal(new DavFile("c #1.mkv", new Uri("http://127.0.0.1:3000/content/tv/A%20b/c%20%231.mkv"), 123), Assert.Single(files));
    }
}
