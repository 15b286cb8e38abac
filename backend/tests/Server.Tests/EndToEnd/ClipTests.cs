using System.Text.Json;
using System.Text.RegularExpressions;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>One command on a fresh machine provides a film to play.</summary>
[Collection(EndToEndRun.Name)]
[Trait("Category", EndToEndRun.Name)]
public sealed partial class ClipTests
{
    private const string Clip = "/content/demo/";

    /// <summary>Checksum of the film before encoding, as <c>tools/DemoClip.cs</c> prints it.</summary>
    internal const string ClipSum = "f5cc520da5f5323aa87ddf135966f7e1e39c2920d6ae2ac8260d2179943d0bf9";

    [Fact]
    public async Task Fresh_start_serves_the_demo_clip_at_the_printed_URL()
    {
        ExternalProgram.Require("curl", "ffprobe");
        var cancel = TestContext.Current.CancellationToken;
        using var data = new ScratchFolder();
        var port = ServerProcess.FreePort();
        await using var server = await ServerProcess.StartAsync(Repository.PathOf("tools/run.sh"),
            ["--port", $"{port}", "--data", data.File("data")], data.File("data"), port, new Dictionary<string, string>(), cancel);
        var printed = await PrintedUrlAsync(server, cancel);

        var listing = await CurlAsync(cancel, "-X", "PROPFIND", "-H", "Depth: 1", printed + Clip);
        var name = ClipName().Match(System.Text.Encoding.UTF8.GetString(listing)).Groups["name"].Value;
        var clip = await CurlAsync(cancel, printed + Clip + name);
        Assert.Equal(ClipSum, SluiceClient.Sha256(clip));
        Assert.InRange(clip.Length, 1, 2 << 20);

        var random = new Random(20260101);
        for (var i = 0; i < 16; i++)
        {
            var from = random.Next(clip.Length);
            var to = random.Next(from, clip.Length);
            Assert.Equal(clip[from..(to + 1)], await CurlAsync(cancel, "-r", $"{from}-{to}", printed + Clip + name));
        }

        await ProbeAsync(printed + Clip + name, cancel);
        Assert.Equal(0, await server.StopAsync(cancel));
    }

    [Fact]
    public async Task Credentials_are_printed_once_and_survive_a_restart()
    {
        var cancel = TestContext.Current.CancellationToken;
        using var data = new ScratchFolder();
        string printed;
        await using (var first = await StartBareAsync(data, cancel))
        {
            printed = await PrintedUrlAsync(first, cancel);
            Assert.Equal(0, await first.StopAsync(cancel));
        }

        await using var second = await StartBareAsync(data, cancel);
        Assert.DoesNotContain(second.Lines, line => line.Contains(Password(printed), StringComparison.Ordinal));
        using var client = new SluiceClient(second.Port, "admin", Password(printed), "");
        using var answer = await client.OpenAsync("README", null, null, cancel);
        answer.EnsureSuccessStatusCode();
    }

    [Fact]
    public async Task Demo_clip_disappears_once_a_provider_is_configured()
    {
        var cancel = TestContext.Current.CancellationToken;
        using var data = new ScratchFolder();
        await using var server = await ServerProcess.StartAsync(data.Path, ProviderSettings.For(ServerProcess.FreePort()), cancel);
        using var client = new SluiceClient(server);
        using var answer = await client.OpenAsync("content/demo/", null, null, cancel);
        Assert.Equal(System.Net.HttpStatusCode.NotFound, answer.StatusCode);
    }

    /// <summary>Finds the path of the film in a listing of its folder.</summary>
    internal static async Task<string> FindClipAsync(SluiceClient client, CancellationToken cancel)
    {
        using var listing = await client.FindAsync(Clip, "", cancel);
        return Clip + ClipName().Match(await listing.Content.ReadAsStringAsync(cancel)).Groups["name"].Value;
    }

    private static Task<ServerProcess> StartBareAsync(ScratchFolder data, CancellationToken cancel) =>
        ServerProcess.StartAsync(ServerProcess.Executable, [], data.Path, ServerProcess.FreePort(), new Dictionary<string, string>(), cancel);

    private static async Task<string> PrintedUrlAsync(ServerProcess server, CancellationToken cancel)
    {
        var line = await server.LineAsync(UrlWithCredentials().IsMatch, cancel);
        return UrlWithCredentials().Match(line).Value;
    }

    private static string Password(string url) => Uri.UnescapeDataString(new Uri(url).UserInfo.Split(':')[1]);

    private static async Task<byte[]> CurlAsync(CancellationToken cancel, params string[] arguments) =>
        (await ExternalProgram.RunAsync("curl", ["--silent", "--show-error", "--fail", .. arguments], null, cancel)).Succeeded().Output;

    private static async Task ProbeAsync(string url, CancellationToken cancel)
    {
        var probe = await ExternalProgram.RunAsync("ffprobe",
            ["-v", "error", "-show_streams", "-show_format", "-of", "json", url], null, cancel);
        Assert.Equal("", probe.Succeeded().Errors);
        using var json = JsonDocument.Parse(probe.Output);
        var codecs = json.RootElement.GetProperty("streams").EnumerateArray().Select(stream => stream.GetProperty("codec_name").GetString());
        Assert.Equal(["aac", "h264"], codecs.Order());
        var seconds = double.Parse(json.RootElement.GetProperty("format").GetProperty("duration").GetString()!,
            System.Globalization.CultureInfo.InvariantCulture);
        Assert.InRange(seconds, 10, 60);
    }

    [GeneratedRegex(@"https?://[^\s:/@]+:[^\s@]+@[^\s/]+")]
    private static partial Regex UrlWithCredentials();

    [GeneratedRegex(@"<D:href>/content/demo/(?<name>[^/<]+)</D:href>")]
    private static partial Regex ClipName();
}
