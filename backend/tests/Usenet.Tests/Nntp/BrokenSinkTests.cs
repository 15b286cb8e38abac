using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>A loop releases its socket, permit and fetches, whatever exception it meets.</summary>
public sealed class BrokenSinkTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory(Timeout = 60_000)]
    [InlineData(true)]
    [InlineData(false)]
    public async Task F06_Sink_out_of_memory_fails_only_its_own_fetch(bool atStart)
    {
        await using var host = await EngineHost.StartAsync(EngineHost.Film(8), provider: (_, account) => account with { MaxConnections = 2, PipeliningDepth = 4 });
        for (var round = 0; round < 4; round++)
        {
            var broken = FetchAsync(host, 1, new BrokenSink(atStart));
            var behind = Enumerable.Range(2, 4).Select(part => FetchAsync(host, part, new CollectingSink())).ToArray();
            await Assert.ThrowsAsync<NntpException>(() => broken.WaitAsync(TimeSpan.FromSeconds(20), TimeProvider.System, Token));
            foreach (var fetch in behind)
                Assert.True((await fetch.WaitAsync(TimeSpan.FromSeconds(20), TimeProvider.System, Token)).IsFound);
        }

        await host.AssertNothingIsLeftAsync(Token);
        await host.AssertCountsAgreeAsync(Token);
    }

    private static Task<ArticleReply> FetchAsync(EngineHost host, int part, IArticleSink sink) =>
        host.Pool.FetchAsync(new ArticleRequest(MessageId.Parse(host.Release.MessageId(0, part)), OperationLane.Playback, ExpectedBytes: 20_000), sink, Token).AsTask();

    private sealed class BrokenSink(bool atStart) : IArticleSink
    {
        public void Start(int provider)
        {
            if (atStart)
                throw new InsufficientMemoryException("as under a limit of the cgroup");
        }

        public bool Write(ReadOnlySpan<byte> raw, out int consumed) => throw new InsufficientMemoryException("as under a limit of the cgroup");
    }
}
