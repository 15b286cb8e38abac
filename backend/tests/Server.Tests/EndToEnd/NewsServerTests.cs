using System.Net;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>
/// A real news server and a real poster, so no code of this repository is on the other side of the wire. A part of the chaos tests, because the same
/// code decides both, and they wait while this one computes.
/// </summary>
[Trait("Category", EndToEndRun.Chaos)]
public sealed class NewsServerTests
{
    private const int CannotRun = 77;

    [Fact]
    public async Task Post_on_a_real_INN_server_is_read_back_byte_for_byte()
    {
        var cancel = TestContext.Current.CancellationToken;
        using var folder = new ScratchFolder();
        // INN runs as another user and creates sockets below its folder, so the path must be short and open to every user.
        if (!OperatingSystem.IsWindows())
            File.SetUnixFileMode(folder.Path, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute
                | UnixFileMode.GroupExecute | UnixFileMode.OtherExecute);
        var news = folder.File("inn");
        var started = await InnAsync(cancel, "start", news);
        Assert.SkipWhen(started.ExitCode == CannotRun, started.Errors.Trim());
        try
        {
            var port = int.Parse(started.Succeeded().Text, System.Globalization.CultureInfo.InvariantCulture);
            await using var server = await ServerProcess.StartAsync(folder.File("data"), ProviderSettings.For(port), cancel);
            using var client = new SluiceClient(server);
            await AssertSyntheticFileAsync(client, folder, news, cancel);
            await AssertDotStuffedPostAsync(client, news, cancel);
        }
        finally
        {
            (await InnAsync(CancellationToken.None, "stop", news)).Succeeded();
        }
    }

    private static async Task AssertSyntheticFileAsync(SluiceClient client, ScratchFolder folder, string news, CancellationToken cancel)
    {
        // Covers every byte value, and runs of the characters that an encoder must escape.
        var bytes = new byte[7_654_321];
        new Random(20260103).NextBytes(bytes);
        new byte[] { 0xD6, 0xE0, 0xE3, 0x13, 0x04 }.AsSpan().CopyTo(bytes);
        bytes.AsSpan(100_000, 50_000).Fill(0x04);
        bytes.AsSpan(200_000, 50_000).Fill(0xD6);
        await File.WriteAllBytesAsync(folder.File("holiday.mkv"), bytes, cancel);
        (await InnAsync(cancel, "post", news, folder.File("holiday.nzb"), folder.File("holiday.mkv"))).Succeeded();

        var nzb = await File.ReadAllBytesAsync(folder.File("holiday.nzb"), cancel);
        Assert.Equal(HttpStatusCode.Created, await client.PutNzbAsync("movies", "holiday", nzb, cancel));
        await client.PublishedAsync("holiday", cancel);
        const string Path = "content/movies/holiday/holiday.mkv";
        Assert.Equal(SluiceClient.Sha256(bytes), SluiceClient.Sha256(await client.GetAsync(Path, cancel)));
        Assert.Equal(bytes[99_999..3_000_001], await client.GetRangeAsync(Path, 99_999, 3_000_000, bytes.Length, cancel));
    }

    /// <summary>The poster of the synthetic file escapes dots; in this post INN doubles the leading dot of 325 lines.</summary>
    private static async Task AssertDotStuffedPostAsync(SluiceClient client, string news, CancellationToken cancel)
    {
        var post = RealPost.Read("raw-dots");
        (await InnAsync(cancel, ["repost", news, .. post.Articles])).Succeeded();
        await client.PublishedAsync(await client.AddFileAsync("movies", "dots", post.Nzb, cancel), cancel);
        Assert.Equal(post.Sha256, SluiceClient.Sha256(await client.GetAsync($"content/movies/dots/{post.FileName}", cancel)));
    }

    private static Task<ProgramResult> InnAsync(CancellationToken cancel, params string[] arguments) =>
        ExternalProgram.RunAsync(Repository.PathOf("tools/inn/inn.sh"), arguments, null, cancel);
}
