using System.Net;
using System.Net.Http.Headers;
using System.Text;
using Dapper;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Providers;
using Sluice.Server.Queue.Steps;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Maps;
using Xunit;

namespace Sluice.Server.Tests.Library;

/// <summary>A post with uneven parts that its first and last article do not reveal, read over HTTP (IMP-32).</summary>
public sealed class MapCorrectionsTests : IDisposable
{
    private const int PartSize = 20_000;
    private const string Path = "/content/tv/Rel/film.mkv";

    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Uneven_post_is_read_byte_for_byte_and_its_map_is_corrected()
    {
        var release = Uneven();
        var truth = new byte[release.Files[0].Size];
        release.Fill(0, 0, truth);
        var map = SegmentMap.FromLengths([.. release.Files[0].PartLengths!.Select(length => (long)length)]);
        await using var mock = await MockServer.StartAsync();
        EntityTagHeaderValue? tag;
        await using (var host = await StartAsync(mock))
        {
            var id = await host.AddAsync(release.ToNzb(), "Rel.nzb", Token, "&cat=tv");
            await host.WaitForHistoryAsync(id[0], Token);
            Assert.NotEqual(map, await StoredMapAsync(host));

            using (var answer = await host.Client.GetAsync(new Uri(Path, UriKind.Relative), Token))
            {
                Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
                Assert.Equal(truth, await answer.Content.ReadAsByteArrayAsync(Token));
                tag = answer.Headers.ETag;
            }

            Assert.Equal(map, await StoredMapAsync(host));
        }

        await using var restarted = await StartAsync(mock);
        var before = mock.Stats.CommandCount("BODY");
        using var again = await restarted.Client.GetAsync(new Uri(Path, UriKind.Relative), Token);
        Assert.Equal(truth, await again.Content.ReadAsByteArrayAsync(Token));
        Assert.Equal(tag, again.Headers.ETag);
        Assert.InRange(mock.Stats.CommandCount("BODY") - before, 0, map.Count);
    }

    [Fact]
    public async Task Map_of_another_release_with_the_same_id_is_unchanged()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await StartAsync(mock);
        var id = await host.AddAsync(Uneven().ToNzb(), "Rel.nzb", Token, "&cat=tv");
        await host.WaitForHistoryAsync(id[0], Token);
        var store = host.Get<LibraryStore>();
        var (release, map) = (await ReleaseAsync(host), (await StoredMapAsync(host))!);

        await store.ReplaceMapAsync(release with { NzbHash = new string('0', 64) }, 0, map, SegmentMap.Uniform(map.Count, 1, map.Count), Token);
        await store.ReplaceMapAsync(release, 0, SegmentMap.Uniform(map.Count, 2, map.Count * 2), SegmentMap.Uniform(map.Count, 1, map.Count), Token);

        Assert.Equal(map, await StoredMapAsync(host));
        Assert.Null(await store.FindMapAsync(release with { NzbHash = new string('0', 64) }, 0, Token));
    }

    [Fact]
    public async Task File_found_before_a_remapping_opens_with_its_current_map()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await StartAsync(mock);
        var (release, truth) = await BelieveAsync(host);
        var store = host.Get<LibraryStore>();
        var found = Assert.Single(await store.GetFilesAsync(release, Token));
        var posted = Assert.Single(await store.GetPostedFilesAsync(release.Id, 0, 0, Token));

        await store.ReplaceContentsAsync(
            release,
            [posted with { Map = SegmentMap.Uniform(1, PartSize, PartSize), IsEstimate = false }],
            new Dictionary<Guid, FileContent> { [found.Id] = new FileContent([new ContentExtent(0, 0, PartSize)]) },
            Token);

        await using var opened = await host.Get<FileStreamFactory>().OpenAsync(found, 0, found.Length, OperationLane.Playback, null, new ReaderAccount(), Token);
        var bytes = new byte[PartSize];
        await opened.Stream.ReadExactlyAsync(bytes, Token);
        Assert.Equal(truth, bytes);
    }

    [Fact]
    public async Task Uncorrectable_map_from_an_old_server_is_reopened_once()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await StartAsync(mock);
        var id = await host.AddAsync(Uneven().ToNzb(), "Rel.nzb", Token, "&cat=tv");
        await host.WaitForHistoryAsync(id[0], Token);
        await host.Get<SluiceDatabase>().WriteAsync(connection => connection.Execute("UPDATE posted_file SET estimated = 1"), Token);
        var release = await ReleaseAsync(host);
        var posted = Assert.Single(await host.Get<LibraryStore>().GetPostedFilesAsync(release.Id, 0, 0, Token));
        Assert.True(posted.IsEstimate);
        using var ids = await host.Get<OpenReleases>().OpenAsync(release.NzbHash, Token);
        var corrections = host.Get<MapCorrections>();
        var correction = corrections.For(release, 0, ids.Take(posted.Places), new ReaderAccount(), isEstimate: true);
        // No neighbor confirms this claim.
        var claim = new Segment(3, (3 * PartSize) + 100, 700);

        await Assert.ThrowsAsync<RefutedExtentException>(() => correction.CorrectAsync(posted.Map, claim, Token));

        while (Assert.Single(await host.Get<LibraryStore>().GetPostedFilesAsync(release.Id, 0, 0, Token)).IsEstimate)
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
        Assert.Equal(0, await host.Get<ReleaseOpenings>().CountWaitingAsync(Token));
        // A stream of the old map must be opened again. The claim contradicts the new map too, so the article is damaged.
        await Assert.ThrowsAsync<RefutedExtentException>(() => correction.CorrectAsync(posted.Map, claim, Token));
        correction = corrections.For(release, 0, ids.Take(posted.Places), new ReaderAccount());
        Assert.True(correction.MayBelieve(claim));
        var map = await correction.CorrectAsync(posted.Map, claim, Token);
        Assert.NotEqual(claim, map[claim.Index]);
        Assert.False(correction.MayBelieve(claim));
    }

    [Fact]
    public async Task Failed_opening_proves_no_old_map_and_blames_no_article()
    {
        await using var mock = await MockServer.StartAsync();
        var refusal = new RefusingStep();
        await using var host = await StartAsync(mock, services => services.Insert(0, ServiceDescriptor.Singleton<IImportStep>(refusal)));
        var (release, truth) = await BelieveAsync(host);
        refusal.Refuses = true;

        Assert.Equal(HttpStatusCode.ServiceUnavailable, await StatusAsync(host));
        while (refusal.Refused == 0 || await host.Get<ReleaseOpenings>().CountWaitingAsync(Token) > 0)
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
        // Later reads within the hour request no further opening.
        for (var i = 0; i < 3; i++)
            Assert.Equal(HttpStatusCode.ServiceUnavailable, await StatusAsync(host));
        Assert.True(await host.Get<SluiceDatabase>().ReadAsync(connection => LibraryStore.IsEstimated(connection, release, 0), Token));
        Assert.Equal(0, await host.Get<SluiceDatabase>().ReadAsync(connection => connection.ExecuteScalar<int>("SELECT count(*) FROM file_lie"), Token));
        Assert.Equal(1, refusal.Refused);

        refusal.Refuses = false;
        await host.Get<SluiceDatabase>().WriteAsync(connection => connection.Execute("UPDATE release_opening SET tried_at = 0"), Token);
        while (await StatusAsync(host) == HttpStatusCode.ServiceUnavailable)
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
        Assert.Equal(truth, await host.Client.GetByteArrayAsync(new Uri(Path, UriKind.Relative), Token));
    }

    [Fact]
    public async Task Second_stream_on_an_old_map_fails_after_the_correction()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await StartAsync(mock);
        var (release, truth) = await BelieveAsync(host);
        var file = Assert.Single(await host.Get<LibraryStore>().GetFilesAsync(release, Token));
        await using var first = await host.Get<Playback>().OpenAsync(file, 0, file.Length, "", new ReaderAccount(), Token);
        await using var second = await host.Get<Playback>().OpenAsync(file, 0, file.Length, "", new ReaderAccount(), Token);
        var bytes = new byte[truth.Length];

        await Assert.ThrowsAsync<RefutedExtentException>(async () => await first.Stream.ReadExactlyAsync(bytes, Token));
        while (Assert.Single(await host.Get<LibraryStore>().GetPostedFilesAsync(release.Id, 0, 0, Token)).IsEstimate)
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
        await Assert.ThrowsAsync<RefutedExtentException>(async () => await second.Stream.ReadExactlyAsync(bytes, Token));

        Assert.Equal(truth, await host.Client.GetByteArrayAsync(new Uri(Path, UriKind.Relative), Token));
    }

    [Fact]
    public async Task F15_Waiting_reader_gets_a_transient_error_at_its_deadline()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        var clock = new ManualTimeProvider();
        var options = host.Get<IOptionsMonitor<UsenetOptions>>();
        using var corrections = new MapCorrections(
            host.Get<LibraryStore>(), host.Get<ReleaseOpenings>(), host.Get<ProviderHost>(), host.Get<SincePaced>(), options, clock, NullLogger<MapCorrections>.Instance);
        var release = new Release(1, "tv", "Rel", new string('0', 64), default);
        var map = SegmentMap.Uniform(6, 3000, 15_100);
        var ids = new LostIds(map.Count);
        var correction = corrections.For(release, 0, ids, new ReaderAccount());
        var claim = new Segment(2, 6000, 2900);

        // The first reader never gets its ids, even after its cancellation.
        var holder = correction.CorrectAsync(map, claim, Token);
        await ids.Asked.Task.WaitAsync(Token);
        var waiter = correction.CorrectAsync(map, claim, Token);
        using var leaving = new CancellationTokenSource();
        var leaver = correction.CorrectAsync(map, claim, leaving.Token);

        await leaving.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => leaver);
        var limit = 2 * options.CurrentValue.StreamingReadTimeout;
        clock.Advance(limit - TimeSpan.FromMilliseconds(1));
        Assert.False(waiter.IsCompleted);
        clock.Advance(TimeSpan.FromMilliseconds(1));
        var late = await Assert.ThrowsAsync<NntpException>(() => waiter.WaitAsync(TimeSpan.FromMinutes(1), TimeProvider.System, Token));
        Assert.True(late.IsTransient, late.Message);

        // Once the ids arrive, the next reader continues and fails because there is no provider.
        ids.Come();
        await Assert.ThrowsAsync<NntpException>(() => holder);
        var next = await Assert.ThrowsAsync<NntpException>(() => correction.CorrectAsync(map, claim, Token));
        Assert.Equal(NntpFault.NoProvider, next.Fault);
    }

    /// <summary>
    /// A film of one article with a wrong map of an old server: too long and at another offset. No neighbor can confirm the article.
    /// </summary>
    private static async Task<(Release Release, byte[] Truth)> BelieveAsync(ProductHost host)
    {
        var post = new MockRelease("single", 3, [new MockFile { Name = "film.mkv", Size = PartSize, PartLengths = [PartSize] }]);
        var truth = new byte[PartSize];
        post.Fill(0, 0, truth);
        await host.WaitForHistoryAsync((await host.AddAsync(post.ToNzb(), "Rel.nzb", Token, "&cat=tv"))[0], Token);
        var (store, release) = (host.Get<LibraryStore>(), await ReleaseAsync(host));
        var posted = Assert.Single(await store.GetPostedFilesAsync(release.Id, 0, 0, Token));
        var file = Assert.Single(await store.GetFilesAsync(release, Token));
        await store.ReplaceContentsAsync(
            release,
            [posted with { Map = SegmentMap.Uniform(1, PartSize + 600, PartSize + 600), IsEstimate = true }],
            new Dictionary<Guid, FileContent> { [file.Id] = new FileContent([new ContentExtent(0, 600, PartSize)]) },
            Token);
        return (release, truth);
    }

    private static async Task<HttpStatusCode> StatusAsync(ProductHost host)
    {
        using var answer = await host.Client.GetAsync(new Uri(Path, UriKind.Relative), Token);
        return answer.StatusCode;
    }

    private static MockRelease Uneven()
    {
        int[] lengths = [.. Enumerable.Repeat(PartSize, 19), 7_000];
        (lengths[5], lengths[9]) = (PartSize - 500, PartSize + 500);
        return new MockRelease("uneven", 3, [new MockFile { Name = "film.mkv", Size = lengths.Sum(), PartLengths = lengths }]);
    }

    private static async Task<Release> ReleaseAsync(ProductHost host) =>
        Assert.IsType<ReleaseEntry>(await host.Get<LibraryTree>().FindAsync(["tv", "Rel"], Token)).Release;

    private static async Task<SegmentMap?> StoredMapAsync(ProductHost host) =>
        await host.Get<LibraryStore>().FindMapAsync(await ReleaseAsync(host), 0, Token);

    private async Task<ProductHost> StartAsync(MockServer mock, Action<IServiceCollection>? replace = null)
    {
        var host = await ProductHost.StartAsync(_folder, mock, replace);
        host.Client.DefaultRequestHeaders.Authorization =
            new("Basic", Convert.ToBase64String(Encoding.UTF8.GetBytes($"admin:{ProductHost.Password}")));
        return host;
    }

    /// <summary>A first import step that can reject every release.</summary>
    private sealed class RefusingStep : IImportStep
    {
        private volatile bool _refuses;
        private int _refused;

        public bool Refuses
        {
            set => _refuses = value;
        }

        public int Refused => Volatile.Read(ref _refused);

        public string Name => "Refuse";

        public int Weight => 1;

        public Task<ImportFailure?> RunAsync(ImportWork work, StepProgress progress, CancellationToken cancellationToken)
        {
            if (!_refuses)
                return Task.FromResult<ImportFailure?>(null);
            Interlocked.Increment(ref _refused);
            return Task.FromResult<ImportFailure?>(ImportFailure.WrongPassword());
        }
    }

    /// <summary>Ids on a disk that does not respond.</summary>
    private sealed class LostIds(int count) : ISegmentIds
    {
        private readonly TaskCompletionSource _come = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public TaskCompletionSource Asked { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public int Count => count;

        public void Come() => _come.TrySetResult();

        public async ValueTask<SegmentIds> GetAsync(int index, CancellationToken cancellationToken)
        {
            Asked.TrySetResult();
            await _come.Task;
            return new SegmentIds(MessageId.Parse($"{index}@lost"), []);
        }
    }
}
