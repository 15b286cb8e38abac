using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>If the first provider never works and the second does, imports and viewers are unaffected (F12).</summary>
[Trait("Category", EndToEndRun.Name)]
public sealed class SecondProviderTests
{
    private const int ArticleSize = 64_000;
    private const int Articles = 150;
    private static readonly SyntheticFilm Film = new(12, (Articles * ArticleSize) - 999, ArticleSize);

    [Theory(Timeout = 180_000)]
    [InlineData(FaultKind.Auth481)]
    [InlineData(FaultKind.ConnectBlackhole)]
    [InlineData(FaultKind.ConnectReset)]
    [InlineData(FaultKind.BodyReset)]
    public async Task F12_Import_and_playback_succeed_through_the_second_provider(FaultKind kind)
    {
        var cancel = TestContext.Current.CancellationToken;
        var account = new MockProvider { User = "u", Password = "p" };
        var fault = new MockFault { Kind = kind, Provider = 0, Tries = 0, Offset = 0 };
        await using var set = await MockedServer.StartAsync(new MockOptions { Providers = [account, account], Faults = [fault] }, null, cancel);

        await Film.PublishAsync(set.Client, cancel);
        Assert.InRange(set.Mock.ProviderStats[1].Articles, 1, Articles);

        // Memory serves the second read; each article is fetched only once.
        Film.AssertEqual(0, await set.Client.GetAsync(Film.Path, cancel));
        Film.AssertEqual(Film.Size / 2, await set.Client.GetRangeAsync(Film.Path, Film.Size / 2, Film.Size - 1, Film.Size, cancel));
        Assert.Equal(0, set.Mock.ProviderStats[0].Articles);
        Assert.InRange(set.Mock.ProviderStats[1].Articles, Articles, 2 * Articles);
        Assert.True(set.Mock.ProviderStats[0].FaultCount(kind) > 0, "The first provider was never tried.");
    }
}
