using System.Globalization;
using System.Text;
using System.Text.Json;
using Dapper;
using Sluice.Server.Database;
using Sluice.Server.Queue;
using Sluice.Server.Tests.AdminApi;
using Sluice.Server.Tests.Database;
using Xunit;

namespace Sluice.Server.Tests.Queue;

/// <summary>NzbIntake stores the size, age and counts of the post with the queue item, so that every API shows them before the import starts.</summary>
public sealed class PostMeasureTests : IDisposable
{
    // The newest file is twelve days old. The second file has a gap, and the third one repeats the first.
    private static readonly DateTimeOffset Newest = DateTimeOffset.FromUnixTimeSeconds(TimeProvider.System.GetUtcNow().ToUnixTimeSeconds()).AddDays(-12).AddHours(-1);
    private static readonly byte[] Post = Encoding.UTF8.GetBytes($"<nzb>{File("a", Newest.AddDays(-9), 1, 2)}{File("b", Newest, 1, 3)}{File("a", Newest, 1, 2)}</nzb>");
    private static readonly PostMeasure Measure = new(4L << 20, Newest, 2, 5);

    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Paused_item_shows_size_and_age_in_both_APIs()
    {
        await using var server = await JobServer.StartAsync(_folder);
        var id = (await server.Host.AddAsync(Post, "Rel.nzb", Token, "&priority=-2"))[0];

        var queue = (await server.Host.CallAsync("mode=queue", Token)).GetProperty("queue");
        var slot = queue.GetProperty("slots")[0];
        Assert.Equal(
            ("4.00", "4.00", "4.0 MB", "4.0 MB", "12d", "Paused"),
            (Text(slot, "mb"), Text(slot, "mbleft"), Text(slot, "size"), Text(slot, "sizeleft"), Text(slot, "avg_age"), Text(slot, "status")));
        Assert.Equal(("4.00", "4.0 MB"), (Text(queue, "mbleft"), Text(queue, "size")));
        var row = Assert.Single(await server.ListAsync("queue"));
        Assert.Equal((id, 4 << 20, 2, 5), ((string?)row["id"], (int)row["bytes"]!, (int)row["files"]!, (int)row["segments"]!));
        Assert.Equal(Newest, DateTimeOffset.Parse((string)row["postedAt"]!, CultureInfo.InvariantCulture));
    }

    [Fact]
    public async Task NZBs_in_an_archive_are_measured_individually()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        var ids = await host.AddAsync(NzbText.Zip(("a.nzb", Post), ("b.nzb", NzbText.Of("b.mkv")), ("c.nzb", "none"u8.ToArray())), "Two.zip", Token, "&priority=-2");
        var packed = (await host.AddAsync(NzbText.Gzip(Post), "Gz.nzb.gz", Token, "&priority=-2"))[0];

        Assert.Equal(Measure, await MeasureAsync(host, ids[0]));
        Assert.Equal((1000L, 1, 1), (await MeasureAsync(host, ids[1])) is { } other ? (other.EncodedBytes, other.Files, other.Segments) : default);
        Assert.Equal(PostMeasure.Nothing, await MeasureAsync(host, ids[2]));
        Assert.Equal(Measure, await MeasureAsync(host, packed));
    }

    [Fact]
    public async Task Retried_item_is_measured_again()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        await host.CallAsync("mode=pause", Token);
        var id = (await host.AddAsync(Post, "Rel.nzb", Token))[0];
        await host.Get<SluiceDatabase>().WriteAsync(
            connection =>
            {
                Server.History.HistoryStore.Insert(
                    connection, FailedItem.Of(QueueStore.Remove(connection, id)!, Server.History.ImportFailure.NoMedia(), [], TimeProvider.System.GetUtcNow()));
                return true;
            },
            Token);

        await host.CallAsync($"mode=retry&value={id}", Token);

        while (await MeasureAsync(host, id) != Measure)
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
    }

    [Fact]
    public async Task Items_from_an_old_version_are_measured_after_startup()
    {
        string[] ids;
        await using (var host = await ProductHost.StartAsync(_folder))
        {
            await host.CallAsync("mode=pause", Token);
            ids = [.. await host.AddAsync(NzbText.Of("a.mkv"), "Lost.nzb", Token), .. await host.AddAsync(Post, "Old.nzb", Token), .. await host.AddAsync("none"u8.ToArray(), "None.nzb", Token)];
            System.IO.File.Delete(Path.Combine(_folder.Folder.Blobs, (await host.Get<QueueStore>().FindAsync(ids[0], Token))!.NzbHash + ".nzb.br"));
        }

        await using (var database = _folder.OpenDatabase())
        {
            await database.WriteAsync(
                connection => connection.Execute("UPDATE queue_item SET files = NULL, segments = NULL, encoded_bytes = 0, posted_at = NULL"), Token);
        }

        await using (var host = await ProductHost.StartAsync(_folder))
        {
            while (await MeasureAsync(host, ids[2]) is null)
                await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
            Assert.Equal(Measure, await MeasureAsync(host, ids[1]));
            Assert.Null(await MeasureAsync(host, ids[0]));
        }
    }

    [Fact]
    public async Task Undo_of_a_removal_keeps_post_size_and_age()
    {
        await using var server = await JobServer.StartAsync(_folder);
        var id = (await server.Host.AddAsync(Post, "Rel.nzb", Token, "&priority=-2"))[0];

        var removed = await server.SendAsync(HttpMethod.Delete, $"queue/{id}");
        await server.SendAsync(HttpMethod.Post, $"undo/{(string)removed["undo"]!}", expected: System.Net.HttpStatusCode.NoContent);

        Assert.Equal(Measure, await MeasureAsync(server.Host, id));
    }

    private static async Task<PostMeasure?> MeasureAsync(ProductHost host, string id) => (await host.Get<QueueStore>().FindAsync(id, Token))?.Measure;

    private static string? Text(JsonElement from, string name) => from.GetProperty(name).GetString();

    private static string File(string name, DateTimeOffset date, params int[] numbers) => string.Create(
        CultureInfo.InvariantCulture,
        $"<file poster=\"p\" date=\"{date.ToUnixTimeSeconds()}\" subject=\"&quot;{name}.mkv&quot; yEnc (1/3)\"><groups><group>a.b.test</group></groups><segments>{string.Concat(numbers.Select(number => $"<segment bytes=\"{1 << 20}\" number=\"{number}\">{name}{number}@test</segment>"))}</segments></file>");
}
