using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams.Cache;
using Sluice.Usenet.Streams.Proof;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>F27: a scanner reads the head and the tail of every file, and does so again.</summary>
public sealed class LibraryScanTests : IDisposable
{
    private const int Films = 500;
    private const int FilmSize = 240_000;
    private const int Scanners = 16;

    private readonly string _folder = Directory.CreateTempSubdirectory("sluice-scan-").FullName;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task F27_Second_scan_of_500_files_costs_no_BODY()
    {
        var release = MockRelease.Plain(27, (long)Films * FilmSize, Films, articleSize: 100_000);
        Assert.InRange(await ScanAsync(release), 2 * Films, 3 * Films);
        Assert.Equal(0, await ScanAsync(release));
    }

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    /// <returns>Number of BODY commands of a scan with a newly started engine.</returns>
    private async Task<long> ScanAsync(MockRelease release)
    {
        // The provider does not slow the scan down, so the queue must hold all writes of a slow disk.
        var options = new DiskCacheOptions(_folder) { MaxQueuedBytes = 1L << 30 };
        await using var disk = new DiskSegmentCache(options, NullLoggerFactory.Instance);
        await using var host = await EngineHost.StartAsync(release, disk: disk);
        await Parallel.ForEachAsync(Enumerable.Range(0, Films), new ParallelOptions { MaxDegreeOfParallelism = Scanners, CancellationToken = Token }, async (film, token) =>
        {
            await ProbeAsync(host, film, 0, 65_536, token);
            await ProbeAsync(host, film, FilmSize - 30_000, 30_000, token);
        });
        await host.AssertNothingIsLeftAsync(Token);
        return host.Mock.Stats.CommandCount("BODY");
    }

    private static async Task ProbeAsync(EngineHost host, int film, long position, int count, CancellationToken cancellationToken)
    {
        await using var stream = host.Engine.Open([FileExtent.Whole(host.File(film))], OperationLane.Playback, position, position + count);
        var read = new byte[count];
        await stream.ReadExactlyAsync(read, cancellationToken);
        Assert.True(read.AsSpan().SequenceEqual(host.Truth(position, count, film)), $"wrong bytes in film {film}");
    }
}
