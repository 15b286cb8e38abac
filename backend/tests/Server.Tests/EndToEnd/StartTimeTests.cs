using System.Globalization;
using Dapper;
using Microsoft.Data.Sqlite;
using Sluice.Server.Database;
using Sluice.Server.Library;
using Sluice.Server.Queue;
using Sluice.Usenet.Streams.Maps;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>Start time over a large library (F37): 100,000 releases, each with history item, NZB and list, and 10,000 queued items.</summary>
[Collection(EndToEndRun.Name)]
public sealed class StartTimeTests
{
    private const int Items = 100_000;
    private const int Queued = 10_000;
    private const long FileBytes = 716_800L * 64;
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(3);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Category", EndToEndRun.Measures)]
    public async Task Startup_with_100000_items_serves_within_three_seconds()
    {
        using var scratch = new ScratchFolder();
        var data = scratch.File("data");
        await (await ServerProcess.StartAsync(data, null, Token)).StopAsync(Token);
        await FillAsync(data);

        var checking = await MeasureAsync(data);
        var unchanged = await MeasureAsync(data);

        TestContext.Current.TestOutputHelper!.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"{Items} items, {new FileInfo(Path.Combine(data, "sluice.db")).Length >> 20} MiB: serving after {checking.TotalSeconds:F2} s with a check beside it, after {unchanged.TotalSeconds:F2} s without"));
        Assert.InRange(checking, TimeSpan.Zero, Limit);
        Assert.InRange(unchanged, TimeSpan.Zero, Limit);
    }

    /// <summary>Measures the time from the start of the process until <c>/readyz</c> succeeds; then waits for the database check and stops.</summary>
    private static async Task<TimeSpan> MeasureAsync(string data)
    {
        var started = TimeProvider.System.GetTimestamp();
        await using var server = await ServerProcess.StartAsync(
            data, new Dictionary<string, string> { ["SLUICE_CONFIG__GENERAL__LOG_LEVEL"] = "debug" }, Token);
        var taken = TimeProvider.System.GetElapsedTime(started);
        await server.LineAsync(line => line.Contains("check passed", StringComparison.Ordinal), Token);
        Assert.Equal(0, await server.StopAsync(Token));
        return taken;
    }

    private static async Task FillAsync(string data)
    {
        await using var connection = SluiceDatabase.Connect(Path.Combine(data, "sluice.db"), SqliteOpenMode.ReadWrite);
        using var work = new SqliteWork(connection, writes: true);
        var at = new DateTimeOffset(2026, 1, 3, 10, 0, 0, TimeSpan.Zero);
        var map = SegmentMap.Uniform(64, 716_800, FileBytes);
        for (var i = 0; i < Items; i++)
        {
            var hash = Convert.ToHexStringLower(System.Security.Cryptography.SHA256.HashData(BitConverter.GetBytes(i)));
            var name = string.Create(CultureInfo.InvariantCulture, $"The.Film.{i:000000}.2026.1080p.WEB.h264-GRP");
            var id = LibraryStore.Insert(
                connection,
                new NewRelease(
                    "movies", name, hash, [new StoredPostedFile(0, SegmentPlaces.Range(0, 64), map)],
                    [new NewLibraryFile(Guid.NewGuid(), name + ".mkv", null, FileBytes, Guid.NewGuid().ToString("N"), new FileContent([new ContentExtent(0, 0, FileBytes)]))]),
                at);
            await connection.ExecuteAsync(
                """
                INSERT INTO history_item
                  (id, name, nzb_name, category, folder, priority, password, post_processing, script, nzb_hash, encoded_bytes, bytes, release_id,
                   fail_message, added_at, started_at, completed_at, steps)
                VALUES (@item, @name, @name || '.nzb', 'movies', 'movies', 0, '', 3, 'None', @hash, 1, 1, @id, '', 1, 1, 1, '[]')
                """,
                new { item = $"SABnzbd_nzo_{hash[..32]}", name, hash, id });
            foreach (var suffix in (string[])[".nzb.br", ".ids"])
                await File.WriteAllBytesAsync(Path.Combine(data, "blobs", hash + suffix), [1], Token);
            if (i < Queued)
                QueueStore.Insert(connection, Item(name, hash, at));
        }

        work.Commit();
    }

    // Paused, because the NZBs of this folder have nothing to import.
    private static QueueItem Item(string name, string hash, DateTimeOffset at) => new()
    {
        Id = $"SABnzbd_nzo_q{hash[..31]}",
        Name = name,
        NzbName = name + ".nzb",
        Category = "movies",
        Folder = "movies",
        Paused = true,
        NzbHash = hash,
        EncodedBytes = 1,
        AddedAt = at,
    };
}
