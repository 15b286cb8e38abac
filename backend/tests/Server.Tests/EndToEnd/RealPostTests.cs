using System.Net;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>Releases of a real poster, added to a running server and read by widely used programs.</summary>
[Trait("Category", EndToEndRun.Name)]
public sealed class RealPostTests(RealPostTests.Posts posts) : IClassFixture<RealPostTests.Posts>
{
    public static TheoryData<string> Releases => ["raw-mkv", "raw-faststart", "raw-dots", "rar4"];

    [Theory]
    [MemberData(nameof(Releases))]
    public async Task Release_added_by_WebDAV_or_SAB_API_is_read_byte_for_byte(string release)
    {
        var cancel = TestContext.Current.CancellationToken;
        var (post, client) = (await posts.PublishAsync(release), posts.Set.Client);

        foreach (var category in new[] { "movies", "tv" })
        {
            var path = $"content/{category}/{release}/{post.FileName}";
            var film = await client.GetAsync(path, cancel);
            Assert.Equal(post.Size, film.Length);
            Assert.Equal(post.Sha256, SluiceClient.Sha256(film));
            await AssertRangesAsync(client, path, film, cancel);
        }
    }

    [Theory]
    [MemberData(nameof(Releases))]
    public async Task Release_is_read_byte_for_byte_through_rclone(string release)
    {
        ExternalProgram.Require("rclone");
        var cancel = TestContext.Current.CancellationToken;
        var post = await posts.PublishAsync(release);

        var remote = await RcloneRemote.ForAsync(posts.Set, cancel);
        var listed = await ExternalProgram.RunAsync("rclone", ["lsf", "-R", "--files-only", $"sluice:content/movies/{release}"], remote, cancel);
        Assert.Equal(post.FileName, listed.Succeeded().Text.Trim());
        var film = await ExternalProgram.RunAsync("rclone", ["cat", $"sluice:content/movies/{release}/{post.FileName}"], remote, cancel);
        Assert.Equal(post.Sha256, SluiceClient.Sha256(film.Succeeded().Output));
    }

    [Theory]
    [MemberData(nameof(Releases))]
    public async Task Release_decodes_in_ffmpeg_without_an_error(string release)
    {
        ExternalProgram.Require("ffmpeg");
        var cancel = TestContext.Current.CancellationToken;
        var post = await posts.PublishAsync(release);

        var url = $"{posts.Set.Client.Authority}/content/movies/{release}/{post.FileName}";
        var whole = await ExternalProgram.RunAsync("ffmpeg", ["-v", "error", "-xerror", "-i", url, "-f", "null", "-"], null, cancel);
        Assert.Equal("", whole.Succeeded().Errors);
        // A seeking player opens a second range while the first still runs.
        var seek = await ExternalProgram.RunAsync("ffmpeg", ["-v", "error", "-xerror", "-ss", "5", "-i", url, "-f", "null", "-"], null, cancel);
        Assert.Equal("", seek.Succeeded().Errors);
    }

    private static async Task AssertRangesAsync(SluiceClient client, string path, byte[] film, CancellationToken cancel)
    {
        var random = new Random(20260102);
        for (var i = 0; i < 24; i++)
        {
            var from = random.Next(film.Length);
            var to = Math.Min(from + random.Next(1 << random.Next(1, 22)), film.Length - 1);
            Assert.Equal(film[from..(to + 1)], await client.GetRangeAsync(path, from, to, film.Length, cancel));
        }
        Assert.Equal(film[^1..], await client.GetRangeAsync(path, film.Length - 1, film.Length + 10, film.Length, cancel));
        using var past = await client.OpenAsync(path, film.Length, null, cancel);
        Assert.Equal(HttpStatusCode.RequestedRangeNotSatisfiable, past.StatusCode);
    }

    /// <summary>A server that all tests share. Each release is added by the first test that reads it, by WebDAV and by the SAB API.</summary>
    public sealed class Posts : IAsyncLifetime
    {
        private readonly HashSet<string> _published = [];

        internal MockedServer Set { get; private set; } = null!;

        public async ValueTask InitializeAsync() => Set = await MockedServer.WithRealPostsAsync(TestContext.Current.CancellationToken);

        public ValueTask DisposeAsync() => Set.DisposeAsync();

        // The tests of one class run one after the other.
        internal async Task<RealPost> PublishAsync(string release)
        {
            var cancel = TestContext.Current.CancellationToken;
            var post = RealPost.Read(release);
            if (_published.Add(release))
            {
                Assert.Equal(HttpStatusCode.Created, await Set.Client.PutNzbAsync("movies", release, post.Nzb, cancel));
                await Set.Client.PublishedAsync(release, cancel);
                await Set.Client.PublishedAsync(await Set.Client.AddFileAsync("tv", release, post.Nzb, cancel), cancel);
            }

            return post;
        }
    }
}
