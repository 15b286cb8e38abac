using System.Diagnostics;
using System.Globalization;
using System.Text.Json;
using Microsoft.Data.Sqlite;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Queue;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>A queue of 10,000 items and a history of 100,000 are paged and streamed in constant memory (SAB-6, SAB-40). Times are printed.</summary>
[Collection(EndToEndRun.Name)]
[Trait("Category", EndToEndRun.Measures)]
public sealed class LongListTests
{
    private const int Items = 100_000;
    private const int Archived = 20_000;
    private const int Queued = 10_000;
    private const int Rounds = 40;
    private const long Growth = 8L << 20;

    [Fact]
    public async Task Queue_of_10000_and_history_of_100000_use_constant_memory()
    {
        var cancel = TestContext.Current.CancellationToken;
        using var folder = new ScratchFolder();
        await using var server = await ServerProcess.StartAsync(
            folder.File("data"), new Dictionary<string, string> { ["SLUICE_CONFIG__API__HISTORY_MAX_PAGE_SIZE"] = "100000" }, cancel);
        using var client = new HttpClient { BaseAddress = new Uri($"http://127.0.0.1:{server.Port}") };
        await client.GetStringAsync(new Uri($"/api?apikey={ServerProcess.ApiKey}&mode=pause", UriKind.Relative), cancel);
        await FillAsync(folder.File("data"));
        using var arr = new HttpClient { BaseAddress = client.BaseAddress };
        arr.DefaultRequestHeaders.UserAgent.ParseAdd("Sonarr/4.0.9");

        foreach (var query in new[] { "", "&start=50000", "&category=TV", "&search=99", "&failed_only=1", "&archive=1" })
            await PageAsync(client, "history", query, cancel);
        foreach (var query in new[] { "", "&start=5000", "&category=tv", "&search=E0099", "&status=Queued" })
            await PageAsync(client, "queue", query, cancel);
        await WholeAsync(arr, "history&start=0&limit=60", Items - Archived, cancel);
        await WholeAsync(arr, "queue&start=0&limit=0", Queued, cancel);
        var before = server.ResidentBytes;
        await WholeAsync(arr, "history&start=0&limit=60", Items - Archived, cancel);
        await WholeAsync(arr, "history&start=0&limit=60&output=xml", Items - Archived, cancel);
        await WholeAsync(arr, "queue&start=0&limit=0", Queued, cancel);
        await WholeAsync(arr, "queue&start=0&limit=0&output=xml", Queued, cancel);

        Assert.InRange(server.ResidentBytes, 0, before + Growth);
        Say($"memory {before >> 20} MiB, then {server.ResidentBytes >> 20} MiB, at most {server.PeakResidentBytes >> 20} MiB");
    }

    private static async Task PageAsync(HttpClient client, string list, string query, CancellationToken cancel)
    {
        var times = new List<TimeSpan>();
        for (var round = 0; round < Rounds; round++)
        {
            var clock = Stopwatch.StartNew();
            var text = await client.GetStringAsync(new Uri($"/api?apikey={ServerProcess.ApiKey}&mode={list}&limit=100{query}", UriKind.Relative), cancel);
            times.Add(clock.Elapsed);
            using var page = JsonDocument.Parse(text);
            Assert.Equal(100, page.RootElement.GetProperty(list).GetProperty("slots").GetArrayLength());
        }

        Say($"page of 100 of the {list}, {(query.Length == 0 ? "plain" : query[1..])}: {Describe(times)}");
    }

    private static async Task WholeAsync(HttpClient client, string list, int count, CancellationToken cancel)
    {
        var times = new List<TimeSpan>();
        long length = 0;
        for (var round = 0; round < 5; round++)
        {
            var clock = Stopwatch.StartNew();
            using var answer = await client.GetAsync(
                new Uri($"/api?apikey={ServerProcess.ApiKey}&mode={list}", UriKind.Relative), HttpCompletionOption.ResponseHeadersRead, cancel);
            await using var body = await answer.Content.ReadAsStreamAsync(cancel);
            await body.ReadExactlyAsync(new byte[1], cancel);
            times.Add(clock.Elapsed);
            var rest = new CountingStream();
            await body.CopyToAsync(rest, cancel);
            Assert.Equal(count, rest.Ids);
            length = rest.Bytes;
        }

        Say($"first byte of the whole list ({list}) of {length >> 20} MiB: {Describe(times)}");
    }

    private static async Task FillAsync(string data)
    {
        await using var connection = SluiceDatabase.Connect(Path.Combine(data, "sluice.db"), SqliteOpenMode.ReadWrite);
        using var work = new SqliteWork(connection, writes: true);
        // Dates the items now, because a start deletes failed items that are too old.
        var at = TimeProvider.System.GetUtcNow();
        for (var number = 0; number < Items; number++)
        {
            var name = string.Create(CultureInfo.InvariantCulture, $"The.Show.S01E{number:000000}.1080p.WEB.h264-GRP");
            HistoryStore.Insert(connection, new HistoryItem
            {
                Id = $"SABnzbd_nzo_{Guid.NewGuid():N}",
                Name = name,
                NzbName = name + ".nzb",
                Category = number % 2 == 0 ? "tv" : "movies",
                Folder = "tv",
                ReleaseFolder = name,
                Reason = number % 50 == 0 ? "DeadPost" : null,
                AddedAt = at,
                StartedAt = at,
                CompletedAt = at,
                Steps = [new StepTiming("ReadNzb", 12, "1 files"), new StepTiming("ProbeHeads", 412, "1 files, 2 heads"), new StepTiming("Publish", 3, "1 files, names from subject")],
            });
        }

        for (var number = 0; number < Queued; number++)
        {
            var name = string.Create(CultureInfo.InvariantCulture, $"The.Show.S02E{number:000000}.1080p.WEB.h264-GRP");
            QueueStore.Insert(connection, new QueueItem
            {
                Id = $"SABnzbd_nzo_{Guid.NewGuid():N}",
                Name = name,
                NzbName = name + ".nzb",
                Category = number % 2 == 0 ? "tv" : "movies",
                Folder = "tv",
                NzbHash = number.ToString("x64", CultureInfo.InvariantCulture),
                EncodedBytes = 8_000_000_000 + number,
                AddedAt = at,
            });
        }

        using var archive = connection.CreateCommand();
        archive.CommandText = $"UPDATE history_item SET archived = 1 WHERE number % {Items / Archived} = 0";
        archive.ExecuteNonQuery();
        work.Commit();
    }

    private static string Describe(List<TimeSpan> times)
    {
        var sorted = times.Order().ToList();
        return string.Create(
            CultureInfo.InvariantCulture,
            $"median {sorted[sorted.Count / 2].TotalMilliseconds:F1} ms, p95 {sorted[sorted.Count * 95 / 100].TotalMilliseconds:F1} ms, worst {sorted[^1].TotalMilliseconds:F1} ms");
    }

    private static void Say(string line) => TestContext.Current.TestOutputHelper?.WriteLine(line);

    /// <summary>Counts the ids in an answer, including those that span two writes.</summary>
    private sealed class CountingStream : MemoryStream
    {
        private byte[] _tail = [];

        public int Ids { get; private set; }

        public long Bytes { get; private set; }

        public override void Write(byte[] buffer, int offset, int count) => Count(buffer.AsSpan(offset, count));

        public override void Write(ReadOnlySpan<byte> buffer) => Count(buffer);

        public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
        {
            Count(buffer.Span);
            return ValueTask.CompletedTask;
        }

        private void Count(ReadOnlySpan<byte> piece)
        {
            var word = "SABnzbd_nzo_"u8;
            byte[] both = [.. _tail, .. piece];
            for (var rest = both.AsSpan(); rest.IndexOf(word) is >= 0 and var at; rest = rest[(at + word.Length)..])
                Ids++;
            Bytes += piece.Length;
            // Shorter than the word, so that no id is counted twice.
            _tail = both[^Math.Min(both.Length, word.Length - 1)..];
        }
    }
}
