using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Probing;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>If articles contradict the map, their readers continue with right bytes or get an error (IMP-32).</summary>
public sealed class CorrectedMapTests
{
    private const int PartSize = 20_000;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Active_reader_continues_with_correct_bytes_after_correction()
    {
        await using var host = await EngineHost.StartAsync(Uneven());
        using var correction = new Correction(host);
        var file = Believed(host, correction);

        await using (var stream = host.Engine.Open([FileExtent.Whole(file)], OperationLane.Playback))
        {
            var read = new byte[file.Map.Length];
            await stream.ReadExactlyAsync(read, Token);
            Assert.Equal(host.Truth(0, read.Length), read);
            Assert.Equal(0, await stream.ReadAsync(new byte[1], Token));
        }

        Assert.Equal(TrueMap(host), correction.Current);
        Assert.InRange(correction.Asked, 1, 3);
        await host.AssertNothingIsLeftAsync(Token);
    }

    [Fact]
    public async Task Corrected_map_needs_no_further_correction()
    {
        await using var host = await EngineHost.StartAsync(Uneven());
        using var correction = new Correction(host);
        var file = new PostedFile(TrueMap(host), Believed(host, correction).Ids) { Correction = correction };

        await using var stream = host.Engine.Open([FileExtent.Whole(file)], OperationLane.Playback);
        var read = new byte[file.Map.Length];
        await stream.ReadExactlyAsync(read, Token);

        Assert.Equal(host.Truth(0, read.Length), read);
        Assert.Equal(0, correction.Asked);
        Assert.Equal(file.Map.Count, host.Mock.Stats.CommandCount("BODY"));
    }

    [Fact]
    public async Task Seeks_on_an_outdated_map_never_return_wrong_bytes()
    {
        await using var host = await EngineHost.StartAsync(Uneven());
        using var correction = new Correction(host);
        var file = Believed(host, correction);

        await Task.WhenAll(Enumerable.Range(0, 6).Select(async reader =>
        {
            var random = new Random(reader);
            await using var stream = host.Engine.Open([FileExtent.Whole(file)], OperationLane.Playback);
            for (var i = 0; i < 30; i++)
            {
                var position = random.NextInt64(file.Map.Length);
                var read = new byte[(int)Math.Min(file.Map.Length - position, random.Next(1, 90_000))];
                stream.Position = position;
                await stream.ReadExactlyAsync(read, Token);
                Assert.True(host.Truth(position, read.Length).AsSpan().SequenceEqual(read), $"wrong bytes at {position}+{read.Length}");
            }
        }));

        await host.AssertNothingIsLeftAsync(Token);
    }

    [Fact]
    public async Task Slices_keep_their_bytes_across_a_correction()
    {
        await using var host = await EngineHost.StartAsync(Uneven());
        using var correction = new Correction(host);
        var file = Believed(host, correction);
        FileExtent[] extents = [new(file, 150_000, 70_000), new(file, 10, 100_000), new(file, 333_333, 50_000)];
        var truth = extents.SelectMany(extent => host.Truth(extent.Offset, (int)extent.Length)).ToArray();

        await using var stream = host.Engine.Open(extents, OperationLane.Playback);
        var read = new byte[truth.Length];
        await stream.ReadExactlyAsync(read, Token);

        Assert.Equal(truth, read);
    }

    [Fact]
    public async Task Foreign_article_counts_as_damaged_and_its_duplicate_is_read()
    {
        await using var host = await EngineHost.StartAsync(EngineHost.Film(12, PartSize));
        var other = MockRelease.Plain(99, 12 * 15_000, articleSize: 15_000);
        using var correction = new Correction(host);
        var ids = Ids(host.Release.MessageIds(), (5, other.MessageIds()[5]));
        var file = new PostedFile(host.File().Map, ids) { Correction = correction };
        correction.Ids = ids;

        await using (var stream = host.Engine.Open([FileExtent.Whole(file)], OperationLane.Playback))
        {
            var read = new byte[file.Map.Length];
            await stream.ReadExactlyAsync(read, Token);
            Assert.Equal(host.Truth(0, read.Length), read);
        }

        Assert.Equal(1, correction.Asked);
        Assert.Equal(file.Map, correction.Current);
        await host.AssertNothingIsLeftAsync(Token);
    }

    [Fact]
    public async Task Map_contradiction_without_a_corrector_is_corruption()
    {
        await using var host = await EngineHost.StartAsync(Uneven(), streams: new StreamOptions { ProbeBytes = 10_000, LandingReach = 4_000, AskAgainAfter = TimeSpan.Zero });
        var file = Believed(host, null);

        await using var stream = host.Engine.Open([FileExtent.Whole(file)], OperationLane.Playback);
        var read = new byte[file.Map.Length];

        var gone = await Assert.ThrowsAsync<ArticleGoneException>(async () => await stream.ReadExactlyAsync(read, Token));
        Assert.Equal((ArticleLoss.Corrupt, 5), (gone.Loss, gone.Segment));
    }

    /// <summary>Returns twenty parts with a short one that a later, longer one compensates, so that neither first nor last article shows it.</summary>
    private static MockRelease Uneven()
    {
        int[] lengths = [.. Enumerable.Repeat(PartSize, 19), 7_000];
        (lengths[5], lengths[9]) = (PartSize - 500, PartSize + 500);
        return new MockRelease("uneven", 3, [new MockFile { Name = "film.mkv", Size = lengths.Sum(), PartLengths = lengths }]);
    }

    private static SegmentMap TrueMap(EngineHost host) =>
        SegmentMap.FromLengths([.. host.Release.Files[0].PartLengths!.Select(length => (long)length)]);

    private static PostedFile Believed(EngineHost host, Correction? correction)
    {
        var ids = Ids(host.Release.MessageIds());
        correction?.Ids = ids;
        return new PostedFile(SegmentMap.Uniform(ids.Count, PartSize, host.Release.Files[0].Size), ids) { Correction = correction };
    }

    /// <summary>Corrects maps as the library does, without its store.</summary>
    private sealed class Correction(EngineHost host) : IMapCorrection, IDisposable
    {
        private readonly SemaphoreSlim _turn = new(1, 1);
        private readonly HashSet<Segment> _refused = [];

        public ISegmentIds? Ids { get; set; }

        public SegmentMap? Current { get; private set; }

        public int Asked { get; private set; }

        public void Dispose() => _turn.Dispose();

        public bool MayBelieve(Segment claim)
        {
            lock (_refused)
                return !_refused.Contains(claim);
        }

        public async Task<SegmentMap> CorrectAsync(SegmentMap refuted, Segment claim, CancellationToken cancellationToken)
        {
            await _turn.WaitAsync(cancellationToken);
            try
            {
                Current ??= refuted;
                if (Current[claim.Index] == claim)
                    return Current;
                Asked++;
                if (await new MapCorrector(host.Pool).CorrectAsync(Ids!, Current, claim, leastLength: null, cancellationToken) is { } corrected)
                    return Current = corrected;
                lock (_refused)
                    _refused.Add(claim);
                return Current;
            }
            finally
            {
                _turn.Release();
            }
        }
    }

    /// <summary>Returns the ids of a posted file, one of which may have an id of another article before it.</summary>
    private static FixedIds Ids(IReadOnlyList<string> ids, (int Index, string Id)? foreign = null) => new([.. ids.Select(MessageId.Parse).Select(
        (id, index) => foreign?.Index == index ? new SegmentIds(MessageId.Parse(foreign.Value.Id), [id]) : new SegmentIds(id, []))]);
}
