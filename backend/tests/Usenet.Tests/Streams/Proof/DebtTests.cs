using Sluice.Testing;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Memory;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>Cost of owed proofs, for bytes served before their article was verified: memory, further loading, and waits (F02, F18).</summary>
public sealed class DebtTests : EarlyReads
{
    // More than the maximum of owed proofs per stream.
    private const int Many = 20;

    [Fact]
    public async Task Pending_verification_delays_the_range_end_but_not_a_seek()
    {
        await using var film = new SteppedFilm(parts: 3, time: Time);
        await using var stream = film.Open();
        var owed = await ReadEarlyAsync(film, stream, new byte[Early], isCorrupt: false);
        stream.Position = 2 * Part;
        var reading = film.AssertReadsAsync(stream, 2 * Part, Part - 1, Token);
        var target = await film.Source.NextAsync(Token);
        target.Deliver(film.Body(2));
        target.Finish();
        await reading;
        Assert.False(owed.IsCancelled);

        var last = film.AssertReadsAsync(stream, (3 * Part) - 1, 1, Token);
        Assert.False(last.IsCompleted);
        Finish(film, owed);
        await last;
        Assert.Equal(0, await stream.ReadAsync(new byte[1], Token));
        Assert.Equal(2, film.Source.Asked);
    }

    [Fact]
    public async Task Paused_stream_holds_one_segment_until_it_is_verified()
    {
        await using var film = new SteppedFilm(parts: 3, new StreamOptions { ProbeBytes = 64 * 1024, CacheBytes = 0 }, Time);
        await using var stream = film.Open();
        var owed = await ReadEarlyAsync(film, stream, new byte[Early], isCorrupt: false);
        Pause(4);
        Assert.False(owed.IsCancelled);
        Assert.Equal(BudgetShare.CostOf(Part), film.Engine.Places.Budget.Held);
        Pause(360);
        Assert.False(owed.IsCancelled);
        owed.Deliver(film.Body()[Landed..]);
        Assert.InRange(film.Engine.Blocks.Rented * BlockPool.BlockSize, 1, BudgetShare.CostOf(Part));
        owed.Finish();
        await Eventually.HoldsAsync(
            () => film.Engine.Blocks.Rented == 0 && film.Engine.Places.Budget.Held == 0, () => $"{film.Engine.Blocks.Rented} blocks, {film.Engine.Places.Budget.Held} bytes", Token);
        Assert.Equal(1, film.Source.Asked);

        var reading = film.AssertReadsAsync(stream, Early, Early, Token);
        var again = await film.Source.NextAsync(Token);
        again.Deliver(film.Body());
        again.Finish();
        await reading;
    }

    [Fact]
    public async Task Paused_stream_holds_one_segment_during_a_second_copy()
    {
        await using var film = new SteppedFilm(parts: 3, new StreamOptions { ProbeBytes = 64 * 1024, CacheBytes = 0 }, Time);
        await using var stream = film.Open();
        var owed = await ReadEarlyAsync(film, stream, new byte[Early]);
        Pause(4);
        DeliverCorrupt(film, owed);
        var second = await film.Source.NextAsync(Token);
        second.Deliver(film.Body().ToArray().AsSpan()[..^1000]);
        Assert.Equal(BudgetShare.CostOf(Part), film.Engine.Places.Budget.Held);
        Assert.InRange(film.Engine.Blocks.Rented * BlockPool.BlockSize, 1, BudgetShare.CostOf(Part));
        second.Deliver(film.Body().ToArray().AsSpan()[^1000..]);
        second.Finish();
        await Eventually.HoldsAsync(
            () => film.Engine.Blocks.Rented == 0 && film.Engine.Places.Budget.Held == 0, () => $"{film.Engine.Blocks.Rented} blocks, {film.Engine.Places.Budget.Held} bytes", Token);
        await Assert.ThrowsAsync<WithdrawnBytesException>(() => stream.ReadExactlyAsync(new byte[1], Token).AsTask());
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Closed_stream_cancels_its_pending_verification_loads(bool hasMovedAway)
    {
        await using var film = new SteppedFilm(parts: 3, new StreamOptions { ProbeBytes = 64 * 1024, CacheBytes = 0 }, Time);
        var stream = film.Open();
        var owed = await ReadEarlyAsync(film, stream, new byte[Early]);
        if (hasMovedAway)
        {
            stream.Position = 2 * Part;
            var reading = film.AssertReadsAsync(stream, 2 * Part, 10, Token);
            var target = await film.Source.NextAsync(Token);
            target.Deliver(film.Body(2));
            target.Finish();
            await reading;
            Assert.False(owed.IsCancelled);
        }

        await stream.DisposeAsync();
        Assert.True(owed.IsCancelled);
        Assert.Equal((0, 0, 0), (film.Engine.Blocks.Rented, film.Engine.Places.Budget.Held, film.Engine.OpenStreams));
    }

    [Fact]
    public async Task Range_up_to_the_withheld_length_leaves_nothing_unverified()
    {
        await using var film = new SteppedFilm(parts: 2, new StreamOptions { CacheBytes = 0 }, Time);
        await using var stream = film.Open(1000, 1000 + 4096);
        var reading = stream.ReadAsync(new byte[4096], Token).AsTask();
        var fetch = await film.Source.NextAsync(Token);
        fetch.Deliver(film.Body()[..Landed]);
        Assert.False(reading.IsCompleted);
        fetch.Deliver(film.Body()[Landed..]);
        fetch.Finish();
        Assert.Equal(4096, await reading);
        Pause(4);
        Assert.Equal(0, film.Engine.Places.Budget.Held);
    }

    [Fact]
    public async Task Repeated_seeks_leave_only_a_few_segments_unverified()
    {
        await using var film = new SteppedFilm(parts: Many, new StreamOptions { ProbeBytes = 64 * 1024 }, Time);
        await using var stream = film.Open();
        var fetches = new List<SteppedFetch>();
        var early = 0;
        for (var part = 0; part < Many; part++)
        {
            stream.Position = (long)part * Part;
            var fetch = await GiveUpAsync(stream, () => film.Source.NextAsync(Token));
            fetch.Deliver(film.Body(part)[..Landed]);
            fetches.Add(fetch);

            // Early bytes have arrived by now, so a read either completes at once or waits for the whole article.
            using var leave = CancellationTokenSource.CreateLinkedTokenSource(Token);
            var reading = stream.ReadAsync(new byte[1000], leave.Token).AsTask();
            if (reading.IsCompletedSuccessfully)
            {
                early++;
                continue;
            }

            await leave.CancelAsync();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => reading);
        }

        stream.Position = 0;
        Assert.InRange(early, 4, 8);
        await Eventually.HoldsAsync(() => fetches.Count(fetch => !fetch.IsCancelled) <= early + 1, () => $"{fetches.Count(fetch => !fetch.IsCancelled)} fetches", Token);
        Assert.InRange(film.Engine.Places.Budget.Held, 1, (early + 3) * BudgetShare.CostOf(Part));
    }

    /// <summary>Starts a read and cancels it once the article has been requested.</summary>
    private static async Task<SteppedFetch> GiveUpAsync(Stream stream, Func<ValueTask<SteppedFetch>> asked)
    {
        using var leave = CancellationTokenSource.CreateLinkedTokenSource(Token);
        var reading = stream.ReadAsync(new byte[1], leave.Token).AsTask();
        var fetch = await asked();
        await leave.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => reading);
        return fetch;
    }
}
