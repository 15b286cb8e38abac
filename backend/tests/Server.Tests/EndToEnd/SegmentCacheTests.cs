using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>F27: segments at the edges of a file are cached across a restart, and never served damaged.</summary>
[Trait("Category", EndToEndRun.Name)]
public sealed class SegmentCacheTests
{
    private const long Edge = 200_000;

    private readonly SyntheticFilm _film = new(27, 40_000_000, 256_000);

    [Fact]
    public async Task F27_Film_edges_are_served_from_the_cache_after_a_restart()
    {
        var cancel = TestContext.Current.CancellationToken;
        await using var set = await MockedServer.StartAsync(new MockOptions(), null, cancel);
        await _film.PublishAsync(set.Client, cancel);
        await ReadEdgesAsync(set, cancel);
        Assert.Equal(0, await set.Server.StopAsync(cancel));

        set.Mock.Reset();
        await set.RestartAsync(null, cancel);
        await ReadEdgesAsync(set, cancel);
        Assert.Equal(0, set.Mock.Stats.CommandCount("BODY"));

        // A damaged cache file is only a cache miss: its articles are fetched again.
        Assert.Equal(0, await set.Server.StopAsync(cancel));
        var files = Directory.GetFiles(Path.Combine(set.Data, "cache", "segments"), "*", SearchOption.AllDirectories);
        Assert.NotEmpty(files);
        foreach (var file in files)
        {
            var bytes = await File.ReadAllBytesAsync(file, cancel);
            bytes[^1000] ^= 1;
            await File.WriteAllBytesAsync(file, bytes, cancel);
        }

        await set.RestartAsync(null, cancel);
        await ReadEdgesAsync(set, cancel);
        Assert.NotEqual(0, set.Mock.Stats.CommandCount("BODY"));
    }

    private async Task ReadEdgesAsync(MockedServer set, CancellationToken cancel)
    {
        _film.AssertEqual(0, await set.Client.GetRangeAsync(_film.Path, 0, Edge - 1, _film.Size, cancel));
        _film.AssertEqual(_film.Size - Edge, await set.Client.GetRangeAsync(_film.Path, _film.Size - Edge, _film.Size - 1, _film.Size, cancel));
    }
}
