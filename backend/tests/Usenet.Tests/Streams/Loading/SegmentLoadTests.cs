using Sluice.Testing;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>Many readers of one segment share one load, while readers come and go.</summary>
public sealed class SegmentLoadTests
{
    private const int Landed = 100_000;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Late_reader_shares_the_load_and_its_received_bytes()
    {
        await using var film = new SteppedFilm();
        await using var first = film.Open();
        var reading = film.AssertReadsAsync(first, 0, Landed, Token);
        var fetch = await film.Source.NextAsync(Token);
        fetch.Deliver(film.Body()[..150_000]);
        await reading;

        await using var second = film.Open(50_000);
        await film.AssertReadsAsync(second, 50_000, 20_000, Token);
        fetch.Deliver(film.Body()[150_000..]);
        fetch.Finish();
        await film.AssertReadsAsync(first, Landed, SteppedFilm.PartSize - Landed, Token);
        await film.AssertReadsAsync(second, 70_000, SteppedFilm.PartSize - 70_000, Token);
        Assert.Equal(1, film.Source.Asked);
    }

    [Fact]
    public async Task Segment_held_by_a_reader_is_shared_without_a_cache()
    {
        await using var film = new SteppedFilm(options: new StreamOptions { CacheBytes = 0 });
        await using (var first = film.Open())
        {
            await ReadToEndAsync(film, first);
            await using var second = film.Open();
            await film.AssertReadsAsync(second, 0, SteppedFilm.PartSize - 1, Token);
            Assert.Equal(1, film.Source.Asked);
        }

        Assert.Equal(0, film.Engine.Blocks.Rented);
    }

    [Fact]
    public async Task Load_is_canceled_only_when_the_last_reader_leaves()
    {
        await using var film = new SteppedFilm(options: new StreamOptions { VerifyBeforeServe = true });
        using var leave = new CancellationTokenSource();
        var first = film.Open();
        var second = film.Open();
        var reads = new[] { ReadOneAsync(first, leave.Token), ReadOneAsync(second, leave.Token) };
        var fetch = await film.Source.NextAsync(Token);
        await leave.CancelAsync();
        foreach (var read in reads)
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => read);
        await first.DisposeAsync();
        Assert.False(fetch.IsCancelled);
        await second.DisposeAsync();
        Assert.True(fetch.IsCancelled);
        Assert.Equal(0, film.Engine.Blocks.Rented);

        await using var third = film.Open();
        var reading = ReadOneAsync(third);
        fetch = await film.Source.NextAsync(Token);
        fetch.Deliver(film.Body());
        fetch.Finish();
        await reading;
        Assert.Equal(2, film.Source.Asked);
    }

    [Fact]
    public async Task Nearly_finished_load_without_readers_completes_in_the_cache()
    {
        await using var film = new SteppedFilm(time: new ManualTimeProvider());
        var first = film.Open();
        var reading = film.AssertReadsAsync(first, 0, 1000, Token);
        var fetch = await film.Source.NextAsync(Token);
        fetch.Deliver(film.Body()[..250_000]);
        await reading;
        await first.DisposeAsync();
        Assert.False(fetch.IsCancelled);
        fetch.Deliver(film.Body()[250_000..]);
        fetch.Finish();

        await using var second = film.Open();
        await film.AssertReadsAsync(second, 0, SteppedFilm.PartSize, Token);
        Assert.Equal(1, film.Source.Asked);
    }

    [Fact]
    public async Task Load_without_readers_is_canceled_after_250_ms()
    {
        var time = new ManualTimeProvider();
        await using var film = new SteppedFilm(time: time);
        var stream = film.Open();
        var reading = film.AssertReadsAsync(stream, 0, 1000, Token);
        var fetch = await film.Source.NextAsync(Token);
        fetch.Deliver(film.Body()[..250_000]);
        await reading;
        await stream.DisposeAsync();
        time.Advance(TimeSpan.FromMilliseconds(249));
        Assert.False(fetch.IsCancelled);
        time.Advance(TimeSpan.FromMilliseconds(1));
        Assert.True(fetch.IsCancelled);
        await Eventually.HoldsAsync(() => film.Engine.Blocks.Rented == 0, () => $"{film.Engine.Blocks.Rented} blocks", Token);
    }

    [Fact]
    public async Task Load_failure_is_reported_to_every_reader()
    {
        await using var film = new SteppedFilm();
        await using var first = film.Open();
        await using var second = film.Open();
        var reads = new[] { ReadOneAsync(first), ReadOneAsync(second) };
        (await film.Source.NextAsync(Token)).Miss();
        foreach (var read in reads)
            Assert.Equal(ArticleLoss.Missing, (await Assert.ThrowsAsync<ArticleGoneException>(() => read)).Loss);
        Assert.Equal(1, film.Source.Asked);
    }

    [Fact]
    public async Task Load_moves_to_the_playback_lane_if_playback_joins_an_import()
    {
        await using var film = new SteppedFilm();
        await using var import = film.Open(lane: OperationLane.Import);
        var importing = ReadOneAsync(import);
        var slow = await film.Source.NextAsync(Token);
        await using var player = film.Open();
        var playing = ReadOneAsync(player);
        var fast = await film.Source.NextAsync(Token);
        Assert.Equal((OperationLane.Import, OperationLane.Playback), (slow.Request.Lane, fast.Request.Lane));
        Assert.True(slow.IsCancelled);
        fast.Deliver(film.Body());
        fast.Finish();
        await Task.WhenAll(importing, playing);
    }

    [Fact]
    public async Task Reader_joining_a_prefetch_makes_it_urgent()
    {
        await using var film = new SteppedFilm(parts: 3);
        await using var ahead = film.Open();
        var reading = film.AssertReadsAsync(ahead, 0, 70_000, Token);
        (await film.Source.NextAsync(Token)).Deliver(film.Body()[..150_000]);
        await reading;
        await Eventually.HoldsAsync(() => film.Source.Asked == 2, () => $"{film.Source.Asked} fetches", Token);
        var prefetch = await film.Source.NextAsync(Token);
        Assert.False(prefetch.Request.Urgency!.IsHeadOfLine);

        await using var second = film.Open(SteppedFilm.PartSize);
        var waiting = ReadOneAsync(second);
        Assert.True(prefetch.Request.Urgency.IsHeadOfLine);
        prefetch.Deliver(film.Body(1));
        prefetch.Finish();
        await waiting;
        Assert.Equal(2, film.Source.Asked);
    }

    [Fact]
    public async Task Article_listed_at_two_offsets_is_verified_for_each()
    {
        await using var film = new SteppedFilm(parts: 2);
        var id = new SegmentIds(MessageId.Parse("0@film"), []);
        var decoy = SteppedFilm.FileOf(2, [new SegmentIds(MessageId.Parse("x@film"), []), id]);
        await using var right = film.Open(0, 10);
        await using var wrong = film.Open(SteppedFilm.PartSize, SteppedFilm.PartSize + 10, file: decoy);
        var reads = new[] { ReadOneAsync(right), ReadOneAsync(wrong) };
        for (var i = 0; i < 3; i++)
        {
            // The wrong article is fetched once more, because it might have been damaged on its way.
            var fetch = await film.Source.NextAsync(Token);
            fetch.Deliver(film.Body());
            fetch.Finish();
        }

        await reads[0];
        await Assert.ThrowsAsync<ArticleDoubtedException>(() => reads[1]);
        await using var again = film.Open(0, 10);
        await film.AssertReadsAsync(again, 0, 10, Token);
        Assert.Equal(3, film.Source.Asked);
    }

    private static Task ReadOneAsync(Stream stream, CancellationToken? token = null) => stream.ReadExactlyAsync(new byte[1], token ?? Token).AsTask();

    private static async Task ReadToEndAsync(SteppedFilm film, Stream stream)
    {
        var reading = film.AssertReadsAsync(stream, 0, SteppedFilm.PartSize - 1, Token);
        var fetch = await film.Source.NextAsync(Token);
        fetch.Deliver(film.Body());
        fetch.Finish();
        await reading;
    }
}
