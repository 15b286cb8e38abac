using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Probing;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Proof;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>F18 on the wire: the source of the second copy of an unconfirmed article, and the cost of posts without ranges or checksums.</summary>
public sealed class SecondCopyTests
{
    private const int ArticleSize = 20_000;
    private const int Suspect = 3;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public static TheoryData<FaultKind> Losses => [FaultKind.YencNoCrc, FaultKind.YencBadCrc, FaultKind.YencNoEnd, FaultKind.YencNoRange, FaultKind.YencBadRange];

    [Theory]
    [MemberData(nameof(Losses))]
    public async Task Second_copy_comes_from_another_backbone(FaultKind loss)
    {
        var faults = new[] { Lost(loss, provider: 0), Lost(loss, provider: 1) };
        await using var host = await StartAsync(faults, providers: 3, (index, account) => account with { Backbone = index == 2 ? "two" : "One" });
        await ReadSuspectAsync(host);
        Assert.Equal(2, host.Mock.Stats.BodyCount(host.Release.MessageId(0, Suspect)));
        Assert.Equal(1, host.Mock.Stats.FaultCount(loss));
        await host.AssertNothingIsLeftAsync(Token);
    }

    [Theory]
    [MemberData(nameof(Losses))]
    public async Task Second_copy_from_a_lone_provider_uses_another_connection(FaultKind loss)
    {
        await using var host = await StartAsync([Lost(loss)], providers: 1);
        await ReadSuspectAsync(host);
        Assert.Equal(2, host.Mock.Stats.BodyCount(host.Release.MessageId(0, Suspect)));
        Assert.Equal(2, host.Mock.Stats.Opened);
        await host.AssertNothingIsLeftAsync(Token);
    }

    [Fact]
    public async Task Second_copy_uses_the_same_connection_if_it_is_the_only_one()
    {
        await using var host = await StartAsync([Lost(FaultKind.YencNoCrc)], providers: 1, (_, account) => account with { MaxConnections = 1 });
        await ReadSuspectAsync(host);
        Assert.Equal(2, host.Mock.Stats.BodyCount(host.Release.MessageId(0, Suspect)));
        Assert.Equal(1, host.Mock.Stats.Opened);
    }

    [Fact]
    public async Task Second_copy_falls_back_to_the_same_provider()
    {
        var faults = new[] { Lost(FaultKind.YencNoCrc), new MockFault { Kind = FaultKind.Missing, Provider = 1, Articles = ArticleSelection.Parts(Suspect) } };
        await using var host = await StartAsync(faults, providers: 2);
        await ReadSuspectAsync(host);
        Assert.Equal(2, host.Mock.Stats.FaultCount(FaultKind.YencNoCrc));
        Assert.Equal(1, host.Mock.Stats.FaultCount(FaultKind.Missing));
    }

    [Theory]
    [InlineData(FaultKind.YencNoCrc)]
    [InlineData(FaultKind.YencNoEnd)]
    [InlineData(FaultKind.YencNoRange)]
    public async Task Post_without_checksum_or_range_plays_at_normal_cost(FaultKind never)
    {
        const int Articles = 100;
        await using var host = await EngineHost.StartAsync(EngineHost.Film(Articles), new MockOptions { Faults = [new MockFault { Kind = never }] });
        var probed = await ProbeAsync(host);
        Assert.Equal(Carries.Never, never == FaultKind.YencNoRange ? probed.Habit.Range : probed.Habit.Checksum);
        var before = host.Mock.Stats.CommandCount("BODY");

        // If no article has a range, only their lengths tell the offsets (IMP-35).
        Assert.InRange(before, 2, never == FaultKind.YencNoRange ? Articles : 3);

        await using (var stream = host.Engine.Open([FileExtent.Whole(probed.ToPostedFile()!)], OperationLane.Playback))
        {
            var first = new byte[1000];
            Assert.True(await stream.ReadAsync(first, Token) > 0);
            await stream.CopyToAsync(Stream.Null, Token);
        }

        Assert.InRange(host.Mock.Stats.CommandCount("BODY") - before, Articles, Articles * 1.05);
    }

    [Fact]
    public async Task Uuencoded_file_is_confirmed_once_at_little_extra_cost()
    {
        const int Articles = 100;
        var film = new MockFile { Name = "film.mkv", Size = Articles * 18_000, ArticleSize = 18_000, IsUuencoded = true };
        await using var host = await EngineHost.StartAsync(new MockRelease("old", 7, [film]));

        await using (var stream = host.Open())
        {
            var read = new byte[film.Size];
            await stream.ReadExactlyAsync(read, Token);
            Assert.True(read.AsSpan().SequenceEqual(host.Truth(0, read.Length)), "wrong bytes");
        }

        Assert.InRange(host.Mock.Stats.CommandCount("BODY"), Articles + 1, Articles * 1.05);
        await host.AssertNothingIsLeftAsync(Token);
    }

    [Fact]
    public async Task Usual_post_habits_are_learned_from_first_and_last_article()
    {
        await using var host = await EngineHost.StartAsync(EngineHost.Film(10));
        var probed = await ProbeAsync(host);
        Assert.Equal(new ArticleHabit(Carries.Yes, Carries.Yes, Carries.Yes), probed.Habit);
        Assert.Equal(2, host.Mock.Stats.CommandCount("BODY"));
    }

    [Theory]
    [InlineData(Suspect)]
    [InlineData(10)]
    public async Task Checksum_missing_in_one_article_is_not_a_file_habit(int part)
    {
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(10), new MockOptions { Faults = [new MockFault { Kind = FaultKind.YencNoCrc, Articles = ArticleSelection.Parts(part) }] });
        Assert.Equal(Carries.Yes, (await ProbeAsync(host)).Habit.Checksum);
    }

    private static async Task<FileHead> ProbeAsync(EngineHost host)
    {
        var target = new ProbeTarget(NzbSubject.Parse("\"film.mkv\" yEnc (1/9)"), host.File().Ids);
        return Assert.Single((await new ReleaseProber(host.Pool).ProbeAsync([target], null, Token)).Files);
    }

    private static MockFault Lost(FaultKind kind, int? provider = null) => new() { Kind = kind, Provider = provider, Articles = ArticleSelection.Parts(Suspect) };

    private static Task<EngineHost> StartAsync(IReadOnlyList<MockFault> faults, int providers, Func<int, ProviderOptions, ProviderOptions>? account = null) =>
        EngineHost.StartAsync(
            EngineHost.Film(6),
            new MockOptions { Providers = [.. Enumerable.Range(0, providers).Select(_ => new MockProvider())], Faults = faults },
            streams: new StreamOptions { ProbeBytes = 10_000, LandingReach = 4_000, VerifyBeforeServe = true },
            provider: account);

    /// <summary>Reads the first part, which shows the habits of the file, and then the suspect part.</summary>
    private static async Task ReadSuspectAsync(EngineHost host)
    {
        var file = host.File();
        foreach (var part in new[] { 1, Suspect })
        {
            var begin = (part - 1L) * ArticleSize;
            await using var stream = host.Engine.Open([FileExtent.Whole(file)], OperationLane.Playback, begin, begin + ArticleSize);
            var read = new byte[ArticleSize];
            await stream.ReadExactlyAsync(read, Token);
            Assert.True(read.AsSpan().SequenceEqual(host.Truth(begin, ArticleSize)), $"wrong bytes in part {part}");
        }
    }
}
