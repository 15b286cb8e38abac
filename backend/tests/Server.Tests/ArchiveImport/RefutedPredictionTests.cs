using System.Net;
using System.Net.Http.Headers;
using Sluice.Server.Library;
using Sluice.Tools.MockNntpServer.Layouts;
using Xunit;

namespace Sluice.Server.Tests.ArchiveImport;

/// <summary>Volumes with another layout than their neighbors: IMP-52.</summary>
public sealed class RefutedPredictionTests(ImportBench bench) : IClassFixture<ImportBench>
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(400, null)]
    [InlineData(401, "correct horse")]
    public async Task Mispredicted_volume_serves_no_wrong_byte_and_is_remapped(ulong seed, string? password)
    {
        var layout = new ArchiveLayout
        {
            Format = LayoutFormat.Rar5,
            Entries = [new LayoutEntry("film.mkv", 3_000_000)],
            Volumes = 40,
            Shifted = (20, 77),
            Password = password,
        };
        var release = new ReleaseBuilder($"Shifted.{seed}", seed, 20_000).Password(password).AddArchive(layout).Build();
        var (truth, path) = (release.Entries[0].Bytes, $"{release.Title}/film.mkv");
        // The background proofs are at their limit of the day, because they might find the volume before the reader does.
        await bench.Host.Get<ProofQueue>().AddCostAsync(DateOnly.FromDateTime(TimeProvider.System.GetUtcNow().UtcDateTime), ProvingWorker.BytesPerDay, Token);
        var ending = await bench.ImportAsync(release);
        Assert.Equal("", ending.Sentence);
        var published = await FindAsync(release.Title);
        var tag = published.ETag;
        Assert.Contains(await PostedAsync(published), file => file.Predicted is not null);

        // Readers at both offsets fail at the volume until its release has been mapped again.
        while (await ReadAsync(path, truth) < truth.Length)
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);

        await bench.AssertEqualAsync(path, truth);
        var after = await FindAsync(release.Title);
        Assert.Equal((tag, truth.Length), (after.ETag, after.Length));
        Assert.All(await PostedAsync(after), volume => Assert.Null(volume.Predicted));
    }

    private Task<IReadOnlyList<StoredPostedFile>> PostedAsync(LibraryFile file) =>
        bench.Host.Get<LibraryStore>().GetPostedFilesAsync(file.Release.Id, 0, int.MaxValue, Token);

    private async Task<LibraryFile> FindAsync(string release) =>
        Assert.IsType<FileEntry>(await bench.Host.Get<LibraryTree>().FindAsync([ImportBench.Category, release, "film.mkv"], Token)).File;

    /// <summary>Reads from the beginning and from the middle until the answer breaks off, and compares every byte.</summary>
    /// <returns>Bytes read from the beginning.</returns>
    private async Task<long> ReadAsync(string path, MockBytes truth)
    {
        await ReadAsync(path, truth, truth.Length / 2);
        return await ReadAsync(path, truth, 0);
    }

    private async Task<long> ReadAsync(string path, MockBytes truth, long offset)
    {
        using var answer = await bench.GetAsync(path, new RangeHeaderValue(offset, null));
        if (answer.StatusCode != HttpStatusCode.PartialContent)
            return 0;

        await using var body = await answer.Content.ReadAsStreamAsync(Token);
        var (buffer, expected, read) = (new byte[65_536], new byte[65_536], 0L);
        try
        {
            while (await body.ReadAsync(buffer, Token) is var count and > 0)
            {
                truth.Fill(offset + read, expected.AsSpan(0, count));
                Assert.Equal(expected[..count], buffer[..count]);
                read += count;
            }
        }
        catch (Exception e) when (e is HttpRequestException or IOException)
        {
            // The server aborts the answer at the volume.
        }

        return read;
    }
}
