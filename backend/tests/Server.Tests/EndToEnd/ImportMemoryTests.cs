using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>An import of very many files needs hardly more memory than an import of few (F05).</summary>
[Collection(EndToEndRun.Name)]
[Trait("Category", EndToEndRun.Measures)]
public sealed class ImportMemoryTests
{
    private const int Files = 10_000;
    private const int ArticleSize = 8_000;
    private const long Allowance = 64L << 20;
    private static readonly TimeSpan Sample = TimeSpan.FromMilliseconds(20);

    [Fact(Timeout = 300_000)]
    public async Task F05_Import_of_ten_thousand_files_adds_at_most_64_MiB()
    {
        var cancel = TestContext.Current.CancellationToken;
        await using var set = await MockedServer.StartAsync(new MockOptions(), null, cancel);

        // A first import warms up the code and the connections that every import needs.
        await PublishAsync(set, seed: 51, files: 300, cancel);
        var before = set.Server.ResidentBytes;
        var import = PublishAsync(set, seed: 52, Files, cancel);
        var most = before;
        while (!import.IsCompleted)
        {
            most = Math.Max(most, set.Server.ResidentBytes);
            await Task.WhenAny(import, Task.Delay(Sample, TimeProvider.System, cancel));
        }

        await import;
        TestContext.Current.TestOutputHelper?.WriteLine($"{before >> 20} MiB before, {most >> 20} MiB at most");
        Assert.InRange(most - before, 0, Allowance);
    }

    private static async Task PublishAsync(MockedServer set, ulong seed, int files, CancellationToken cancel)
    {
        var release = MockRelease.Plain(seed, (long)files * ArticleSize, files, ArticleSize);
        await set.Client.PublishedAsync(await set.Client.AddFileAsync("movies", $"many-{seed}", release.ToNzb(), cancel), cancel);
    }
}
