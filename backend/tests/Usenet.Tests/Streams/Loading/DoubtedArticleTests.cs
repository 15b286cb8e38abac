using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Proof;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>F17, F18: damaged copies only prove a fault of the path. A second fetch, later and on another connection, decides on the article.</summary>
public sealed class DoubtedArticleTests
{
    private const int ArticleSize = 20_000;
    private const int Bad = 3;

    private static readonly TimeSpan AskAgainAfter = new StreamOptions().AskAgainAfter;
    private static readonly TimeSpan Moment = TimeSpan.FromSeconds(1);

    private readonly ManualTimeProvider _time = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact(Timeout = 60_000)]
    public async Task F18_Article_garbled_once_is_served_by_a_later_retry()
    {
        await using var host = await StartAsync();
        await AssertDoubtedAsync(host, asked: 2);
        host.Mock.ChangeFaults([]);

        // Until the second fetch is due, readers without any bytes are answered from memory.
        await AssertDoubtedAsync(host, asked: 2);
        _time.Advance(AskAgainAfter - Moment);
        await AssertDoubtedAsync(host, asked: 2);
        _time.Advance(Moment);
        await AssertReadsAsync(host);
        Assert.Equal(3, host.Mock.Stats.BodyCount(host.Release.MessageId(0, Bad)));
    }

    [Fact(Timeout = 60_000)]
    public async Task F18_Persistent_damage_verdict_lasts_one_minute_and_doubles()
    {
        await using var host = await StartAsync();
        await AssertDoubtedAsync(host, asked: 2);
        _time.Advance(AskAgainAfter);
        await AssertGoneAsync(host, asked: 4);
        _time.Advance(TimeSpan.FromMinutes(1) - Moment);
        await AssertGoneAsync(host, asked: 4);
        _time.Advance(Moment);
        await AssertGoneAsync(host, asked: 6);
        _time.Advance(TimeSpan.FromMinutes(2) - Moment);
        await AssertGoneAsync(host, asked: 6);
        _time.Advance(Moment);
        host.Mock.ChangeFaults([]);
        await AssertReadsAsync(host);
    }

    [Theory(Timeout = 60_000)]
    [InlineData(true)]
    [InlineData(false)]
    public async Task F18_Active_stream_waits_for_the_retry_of_a_doubted_article(bool isGoodThen)
    {
        await using var host = await StartAsync();
        await using var stream = host.Open();
        var read = new byte[host.Release.Files[0].Size];
        await stream.ReadExactlyAsync(read.AsMemory(0, (Bad - 1) * ArticleSize), Token);
        var rest = stream.ReadExactlyAsync(read.AsMemory((Bad - 1) * ArticleSize), Token).AsTask();
        await Eventually.HoldsAsync(() => _time.Waiting > 0 && BodiesOf(host) == 2, () => $"{BodiesOf(host)} bodies", Token);

        // A new reader without any bytes does not wait for the second fetch.
        await AssertDoubtedAsync(host, asked: 2);
        if (isGoodThen)
            host.Mock.ChangeFaults([]);
        await AdvanceUntilAsync(rest);

        if (isGoodThen)
        {
            await rest;
            Assert.Equal(host.Truth(0, read.Length), read);
            Assert.Equal(3, BodiesOf(host));
        }
        else
        {
            Assert.Equal(ArticleLoss.Corrupt, (await Assert.ThrowsAsync<ArticleGoneException>(() => rest)).Loss);
            Assert.Equal(4, BodiesOf(host));
        }
    }

    [Fact(Timeout = 60_000)]
    public async Task F18_Stream_waits_for_the_retry_if_it_served_unproved_bytes()
    {
        await using var film = new SteppedFilm(time: _time);
        var bad = film.Body().ToArray();
        bad[^2000] ^= 1;
        await using var stream = film.Open();
        var beginning = film.AssertReadsAsync(stream, 0, 100_000, Token);
        var first = await film.Source.NextAsync(Token);
        first.Deliver(bad.AsSpan(0, 200_000));
        await beginning;
        var rest = film.AssertReadsAsync(stream, 100_000, SteppedFilm.PartSize - 100_000, Token);
        first.Deliver(bad.AsSpan(200_000));
        first.Finish();
        var second = await film.Source.NextAsync(Token);
        second.Deliver(bad);
        second.Finish();

        var asking = film.Source.NextAsync(Token).AsTask();
        await AdvanceUntilAsync(asking);
        var third = await asking;
        third.Deliver(film.Body());
        third.Finish();
        await rest;
        Assert.Equal(3, film.Source.Asked);
    }

    [Theory(Timeout = 60_000)]
    [InlineData(1)]
    [InlineData(4)]
    public async Task F18_Doubted_article_is_retried_on_another_connection(int connections)
    {
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(6, ArticleSize),
            new MockOptions { Faults = [Garbled()] },
            provider: (_, account) => account with { MaxConnections = connections },
            streamTime: _time);
        await AssertDoubtedAsync(host, asked: 2);
        var opened = host.Mock.Stats.Opened;
        _time.Advance(AskAgainAfter);

        // A single connection turns out to be the same one, so it is replaced.
        if (connections == 1)
        {
            await AssertDoubtedAsync(host, asked: 4);
            _time.Advance(AskAgainAfter);
            await AssertGoneAsync(host, asked: 6);
            Assert.Equal(opened + 1, host.Mock.Stats.Opened);
        }
        else
        {
            await AssertGoneAsync(host, asked: 4);
        }
    }

    [Fact(Timeout = 60_000)]
    public async Task F17_Miss_plus_damage_counts_as_damage()
    {
        var mock = new MockOptions { Providers = [new MockProvider { Missing = ArticleSelection.Parts(Bad) }, new MockProvider()], Faults = [Garbled()] };
        await using var host = await EngineHost.StartAsync(EngineHost.Film(6, ArticleSize), mock, streamTime: _time);
        await AssertDoubtedAsync(host, asked: 2, provider: 1);
        _time.Advance(AskAgainAfter);
        host.Mock.ChangeFaults([]);
        await AssertReadsAsync(host);
    }

    [Fact(Timeout = 120_000)]
    public async Task F17_Every_read_is_correct_one_minute_after_faults_end()
    {
        const int Reads = 80;
        MockFault[] chaos =
        [
            new MockFault { Kind = FaultKind.Missing, Provider = 0, Rate = 0.5 },
            new MockFault { Kind = FaultKind.Corrupt, Provider = 1, Rate = 0.5 },
        ];
        var mock = new MockOptions { Providers = [new MockProvider(), new MockProvider()], Faults = chaos };
        await using var host = await EngineHost.StartAsync(EngineHost.Film(Reads, ArticleSize), mock, streamTime: _time);
        var (doubted, gone, wrong) = (0, 0, 0);
        for (var pass = 0; pass < 3; pass++)
        {
            for (var part = 1; part <= Reads; part++)
                await ReadAsync(part);
            _time.Advance(AskAgainAfter);
        }

        // The test proves something only if the chaos had an effect.
        Assert.True(doubted > 5 && gone > 5, $"{doubted} doubted, {gone} gone");
        host.Mock.ChangeFaults([]);
        _time.Advance(TimeSpan.FromMinutes(1) - AskAgainAfter);
        (doubted, gone) = (0, 0);
        for (var part = 1; part <= Reads; part++)
            await ReadAsync(part);
        Assert.Equal((0, 0, 0), (doubted, gone, wrong));

        async Task ReadAsync(int part)
        {
            var at = (part - 1) * ArticleSize;
            await using var stream = host.Open(at, at + 100);
            var read = new byte[100];
            try
            {
                await stream.ReadExactlyAsync(read, Token);
                wrong += host.Truth(at, read.Length).AsSpan().SequenceEqual(read) ? 0 : 1;
            }
            catch (ArticleDoubtedException)
            {
                doubted++;
            }
            catch (ArticleGoneException)
            {
                gone++;
            }
        }
    }

    [Fact(Timeout = 60_000)]
    public async Task F17_Miss_at_every_provider_ends_a_doubt()
    {
        await using var host = await StartAsync();
        await AssertDoubtedAsync(host, asked: 2);
        host.Mock.ChangeMissing(ArticleSelection.Parts(Bad));
        _time.Advance(AskAgainAfter);
        await using var stream = Open(host);
        Assert.Equal(ArticleLoss.Missing, (await Assert.ThrowsAsync<ArticleGoneException>(async () => await stream.ReadExactlyAsync(new byte[100], Token))).Loss);
    }

    [Fact(Timeout = 60_000)]
    public async Task F18_Import_waits_for_the_retry_of_a_doubted_article()
    {
        await using var host = await StartAsync();
        await using var stream = host.Engine.Open(
            [FileExtent.Whole(host.File())], OperationLane.Import, (Bad - 1) * ArticleSize, ((Bad - 1) * ArticleSize) + 100);
        var reading = stream.ReadExactlyAsync(new byte[100], Token).AsTask();
        await Eventually.HoldsAsync(() => _time.Waiting > 0 && BodiesOf(host) == 2, () => $"{BodiesOf(host)} bodies", Token);
        host.Mock.ChangeFaults([]);
        await AdvanceUntilAsync(reading);

        await reading;
        Assert.Equal(3, BodiesOf(host));
    }

    private Task<EngineHost> StartAsync() =>
        EngineHost.StartAsync(EngineHost.Film(6, ArticleSize), new MockOptions { Faults = [Garbled()] }, streamTime: _time);

    private async Task AdvanceUntilAsync(Task end)
    {
        while (!end.IsCompleted)
        {
            _time.Advance(AskAgainAfter);
            await Task.Delay(TimeSpan.FromMilliseconds(2), TimeProvider.System, Token);
        }
    }

    private static MockFault Garbled() => new() { Kind = FaultKind.Corrupt, Articles = ArticleSelection.Parts(Bad) };

    private static long BodiesOf(EngineHost host, int part = Bad) => host.Mock.Stats.BodyCount(host.Release.MessageId(0, part));

    private static ReadOnlyStream Open(EngineHost host) => host.Open((Bad - 1) * ArticleSize, ((Bad - 1) * ArticleSize) + 100);

    private static async Task AssertDoubtedAsync(EngineHost host, int asked, int provider = 0)
    {
        await using var stream = Open(host);
        await Assert.ThrowsAsync<ArticleDoubtedException>(async () => await stream.ReadExactlyAsync(new byte[100], Token));
        Assert.Equal(asked, host.Mock.ProviderStats[provider].BodyCount(host.Release.MessageId(0, Bad)));
    }

    private static async Task AssertGoneAsync(EngineHost host, int asked)
    {
        await using var stream = Open(host);
        var gone = await Assert.ThrowsAsync<ArticleGoneException>(async () => await stream.ReadExactlyAsync(new byte[100], Token));
        Assert.Equal((ArticleLoss.Corrupt, Bad - 1), (gone.Loss, gone.Segment));
        Assert.Equal(asked, BodiesOf(host));
    }

    private static async Task AssertReadsAsync(EngineHost host)
    {
        await using var stream = Open(host);
        var read = new byte[100];
        await stream.ReadExactlyAsync(read, Token);
        Assert.Equal(host.Truth((Bad - 1) * ArticleSize, read.Length), read);
    }
}
