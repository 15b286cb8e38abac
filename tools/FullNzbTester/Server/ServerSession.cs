using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Tools.FullNzbTester.Measure;
using Sluice.Tools.FullNzbTester.Mock;
using Sluice.Tools.FullNzbTester.Sessions;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Tools.FullNzbTester.Server;

/// <summary>Reads a release of a running server over WebDAV. The mock's counters during the session are its cost.</summary>
internal sealed class ServerSession(HttpClient http, PublishedRelease release, MockControl? mock, IReadOnlyList<ProviderOptions> providers) : IContentSession
{
    /// <summary>Bytes that a cut response may lose although they were sent: the buffers of both sides.</summary>
    private const long LostInBuffers = 16 << 20;

    private LineCounts _start;

    public IReadOnlyList<TestedFile> Files => release.Files;

    public bool IsInProcess => false;

    public async Task StartAsync(CancellationToken cancellationToken) => _start = await TotalAsync(cancellationToken);

    public IContentStream Open(TestedFile file, long position, long? end) => new ServerStream(http, release.UrlOf(file), file.Length, position, end);

    public async ValueTask<LineCounts> CountsAsync(CancellationToken cancellationToken) => (await TotalAsync(cancellationToken)).Since(_start);

    public Task SettleAsync(CancellationToken cancellationToken) => mock?.WaitUntilQuietAsync(cancellationToken) ?? Task.CompletedTask;

    /// <summary>Explains an aborted read. HTTP shows only that the response was cut, so the mock names the next article that it cannot deliver.</summary>
    public async ValueTask<HoleSighting?> ExplainAsync(IOException error, TestedFile file, Segment landing, long landed, long position, CancellationToken cancellationToken)
    {
        if (mock is null)
            return null;
        var judge = new HoleJudge(providers);
        for (var index = file.Map.Locate(Math.Min(position, file.Length - 1)).Index; index < file.Map.Count && file.Map[index].Begin <= position + LostInBuffers; index++)
        {
            if ((await judge.JudgeAsync([new Hole(file, index)], cancellationToken)).Count == 0)
                return new HoleSighting(index, IsExact: true);
        }

        return null;
    }

    public async ValueTask<long> UnderWayAsync(CancellationToken cancellationToken) => mock is null ? 0 : (await mock.CountsAsync(cancellationToken)).Total.Waiting;

    public string DelivererOf(TestedFile file, int segment) => "from the server";

    public void Note(MetricSheet metrics)
    {
    }

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    private async ValueTask<LineCounts> TotalAsync(CancellationToken cancellationToken) =>
        mock is null ? default : LineCounts.Of((await mock.CountsAsync(cancellationToken)).Total);
}
