using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>A small range fetches only its own articles, because players, scanners and mounts send thousands of them.</summary>
[Trait("Category", EndToEndRun.Name)]
public sealed class RangeCostTests
{
    private const int ArticleSize = 716_800;
    private static readonly SyntheticFilm Film = new(9, 200_000_000, ArticleSize);

    [Fact]
    public async Task Range_of_1_KiB_costs_at_most_two_BODY_commands()
    {
        var cancel = TestContext.Current.CancellationToken;
        // A hedge would request a late article twice on a busy machine.
        var settings = new Dictionary<string, string> { ["SLUICE_CONFIG__USENET__HEDGE__ENABLED"] = "false" };
        await using var set = await MockedServer.StartAsync(new MockOptions(), settings, cancel);
        await Film.PublishAsync(set.Client, cancel);

        var random = new Random(20260107);
        // The last ten ranges cross the border of two articles.
        var offsets = Enumerable.Range(0, 40).Select(_ => random.NextInt64(Film.Size - 1024))
            .Concat(Enumerable.Range(1, 10).Select(part => (part * 20L * ArticleSize) - 512));
        foreach (var offset in offsets)
        {
            set.Mock.Reset();
            Film.AssertEqual(offset, await set.Client.GetRangeAsync(Film.Path, offset, offset + 1023, Film.Size, cancel));
            var articles = (offset + 1023) / ArticleSize - offset / ArticleSize + 1;
            Assert.InRange(set.Mock.Stats.CommandCount("BODY"), 0, articles);
            Assert.InRange(articles, 1, 2);
        }
    }
}
