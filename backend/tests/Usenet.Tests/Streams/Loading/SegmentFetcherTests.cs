using Sluice.Testing;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Loading;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Memory;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Streams.Reading;
using Sluice.Usenet.Tests.Yenc;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>Concurrent waiters share one load while they join and leave, bytes arrive, and loads end or are canceled.</summary>
public sealed class SegmentFetcherTests
{
    private const int Length = 40_000;
    private const int Readers = 4;
    private const int Rounds = 400;

    private readonly StreamOptions _options = new() { CacheBytes = 0 };
    private readonly ByteBudget _budget;
    private readonly Piece _piece;

    public SegmentFetcherTests()
    {
        var map = SegmentMap.Uniform(1, Length, Length);
        _piece = new Piece(new PostedFile(map, FixedIds.Numbered(1)), map[0], 0, 0, Length);
        _budget = new ByteBudget(_options);
    }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Waiters_leaving_at_any_moment_finish_and_leak_nothing(bool isPrepared)
    {
        using var pool = new BlockPool(1 << 20);
        using var cache = new SegmentCache(_options, TimeProvider.System);
        var source = new ScriptedArticleSource();
        source.Post("0@film", TestArticle.OnWire(TestArticle.Part(TestArticle.Noise(Length))));
        var piece = isPrepared ? _piece with { File = new PostedFile(_piece.File.Map, new IdsInStore()) } : _piece;
        await using (var fetcher = new SegmentFetcher(TestLoadServices.Of(source, pool, _options), cache, null))
            await Task.WhenAll(Enumerable.Range(0, Readers).Select(reader => Task.Run(() => ComeAndGoAsync(fetcher, piece, new Random(reader)), Token)));

        Assert.Equal((0, 0, 0), (_budget.Held, pool.Rented, source.Running));
    }

    /// <summary>ReadAheadPolicy counts only loads that its reader began as round trips, because memory and other readers' loads are faster.</summary>
    [Fact]
    public async Task Only_the_first_waiter_begins_the_load()
    {
        var options = _options with { CacheBytes = 1 << 20 };
        using var pool = new BlockPool(1 << 20);
        using var cache = new SegmentCache(options, TimeProvider.System);
        var source = new ScriptedArticleSource();
        source.Post("0@film", TestArticle.OnWire(TestArticle.Part(TestArticle.Noise(Length))));
        await using var fetcher = new SegmentFetcher(TestLoadServices.Of(source, pool, options), cache, null);
        var share = new BudgetShare(_budget, OperationLane.Playback, static () => { });
        var window = new SegmentWindow(0, share);
        SegmentSlot Claim()
        {
            share.Charge(BudgetShare.CostOf(Length));
            var slot = window.Claim(_piece, isLanding: false, new FetchUrgency(share, isHeadOfLine: true), 0, null);
            fetcher.Begin(slot, OperationLane.Playback, window.Closing);
            return slot;
        }

        var (first, second) = (Claim(), Claim());
        while (first.Take(0, Length, 0, new ReadTarget(new byte[1]), isFirst: true) == 0)
            await Task.Yield();

        Assert.Equal((true, false, false), (first.BeganLoad, second.BeganLoad, Claim().BeganLoad));
        window.Trim(0);
        await window.DisposeAsync();
    }

    private async Task ComeAndGoAsync(SegmentFetcher fetcher, Piece piece, Random dice)
    {
        var share = new BudgetShare(_budget, OperationLane.Playback, static () => { });
        var read = new byte[500];
        for (var round = 0; round < Rounds; round++)
        {
            var debts = new StreamDebts();
            var window = new SegmentWindow(0, share);
            share.Charge(BudgetShare.CostOf(Length));
            var slot = window.Claim(piece, isLanding: true, new FetchUrgency(share, dice.Next(2) == 0), 0, debts.TryBegin(0));
            fetcher.Begin(slot, dice.Next(2) == 0 ? OperationLane.Playback : OperationLane.Import, window.Closing);
            for (var moments = dice.Next(30); moments > 0; moments--)
            {
                await Task.Yield();
                slot.Take(0, Length, 4096, new ReadTarget(read), isFirst: true);
            }

            window.Trim(0);
            if (dice.Next(2) == 0)
                window.LeaveReleased();
            debts.Cancel();
            await window.DisposeAsync().AsTask().WaitAsync(TimeSpan.FromSeconds(30), Token);
        }
    }

    /// <summary>Ids that must be read first; a waiter may leave meanwhile.</summary>
    private sealed class IdsInStore : ISegmentIds
    {
        public int Count => 1;

        public async ValueTask<SegmentIds> GetAsync(int index, CancellationToken cancellationToken)
        {
            await Task.Yield();
            cancellationToken.ThrowIfCancellationRequested();
            return new SegmentIds(MessageId.Parse("0@film"), []);
        }
    }
}
