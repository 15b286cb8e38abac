using Dapper;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Database;
using Sluice.Server.Library;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Startup;
using Sluice.Usenet.Streams.Maps;
using Xunit;

namespace Sluice.Server.Tests.Library;

/// <summary>Library lists in the web UI (ADM-4, ADM-91).</summary>
public sealed class LibraryListTests : IDisposable
{
    private static readonly DateTimeOffset Published = new(2026, 1, 3, 10, 0, 0, TimeSpan.Zero);

    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Theory]
    [InlineData(false, nameof(ListOrder.Name))]
    [InlineData(false, nameof(ListOrder.Newest))]
    [InlineData(false, nameof(ListOrder.Size))]
    [InlineData(true, nameof(ListOrder.Name))]
    [InlineData(true, nameof(ListOrder.Newest))]
    [InlineData(true, nameof(ListOrder.Size))]
    public async Task Paging_neither_skips_nor_repeats_rows_during_changes(bool isSearch, string word)
    {
        const int changes = 2000;
        await using var server = await RunningServer.StartAsync(_temporary);
        var (list, database) = (server.Services.GetRequiredService<LibraryList>(), server.Services.GetRequiredService<SluiceDatabase>());
        var (order, dice, next, alive) = (Enum.Parse<ListOrder>(word), new Random(4711), 0, new List<string>());
        await ChangeAsync(300, inserts: true);
        var stay = alive.ToHashSet();

        var seen = new List<string>();
        RowPlace? after = null;
        var done = 0;
        do
        {
            var page = (isSearch
                ? await list.SearchAsync([], ["mkv"], order, after, 7, Token)
                : await list.ListAsync(["tv"], order, after, 7, Token))!;
            seen.AddRange(page.Items.Select(entry => entry.Path.Split('/')[1]));
            after = page.Next;
            if (done < changes)
                await ChangeAsync(50, inserts: null);
            done += 50;
        }
        while (after is not null);

        Assert.Equal(seen.Count, seen.Distinct().Count());
        Assert.Superset(stay.Where(alive.Contains).ToHashSet(), seen.ToHashSet());
        Assert.True(done >= changes / 2, $"{done} changes");

        Task ChangeAsync(int count, bool? inserts) => database.WriteAsync(
            connection =>
            {
                for (var i = 0; i < count; i++)
                {
                    if (inserts ?? dice.Next(2) == 0)
                    {
                        alive.Add($"Release {dice.Next(50)} {next++}");
                        Insert(connection, alive[^1], dice.Next(20), dice.Next(20), "a.mkv");
                    }
                    else
                    {
                        var gone = alive[dice.Next(alive.Count)];
                        alive.Remove(gone);
                        connection.Execute("DELETE FROM release WHERE name = @gone", new { gone });
                    }
                }

                return true;
            },
            Token);
    }

    /// <summary>Prints the times for 50,000 files with <c>-showLiveOutput</c>. Asserts that a search reads only its index.</summary>
    [Fact]
    public async Task Search_of_a_large_library_uses_the_covering_index()
    {
        await using var server = await RunningServer.StartAsync(_temporary);
        var (list, database) = (server.Services.GetRequiredService<LibraryList>(), server.Services.GetRequiredService<SluiceDatabase>());
        await database.WriteAsync(
            connection =>
            {
                for (var i = 0; i < 12_500; i++)
                {
                    var name = $"Some.Show.{i % 400}.S{i % 20:00}E{i % 24:00}.1080p.WEB.h264-GRP{i}";
                    Insert(connection, name, i % 700, i, $"{name}.mkv", "Sample/sample.mkv", "info.nfo", "subs.srt");
                }

                return true;
            },
            Token);

        foreach (var order in Enum.GetValues<ListOrder>())
        {
            foreach (var words in (string[][])[["show", "1080p"], ["grp12", "sample"], ["nothing"]])
            {
                var started = TimeProvider.System.GetTimestamp();
                var page = (await list.SearchAsync([], words, order, null, 100, Token))!;
                TestContext.Current.TestOutputHelper?.WriteLine(
                    $"{order} {string.Join(' ', words)}: {page.Total} found in {TimeProvider.System.GetElapsedTime(started).TotalMilliseconds:F0} ms");
            }

            var began = TimeProvider.System.GetTimestamp();
            var releases = (await list.ListAsync(["tv"], order, null, 100, Token))!;
            TestContext.Current.TestOutputHelper?.WriteLine(
                $"{order} category: {releases.Total} in {TimeProvider.System.GetElapsedTime(began).TotalMilliseconds:F0} ms");
        }

        var plan = await database.ExplainAsync(
            "SELECT count(*) FROM library_file f WHERE instr(f.folded, @word0) > 0 AND f.folded NOT LIKE '% par2'", new { word0 = "show" });
        Assert.Contains("COVERING INDEX library_file_search", Assert.Single(plan), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(nameof(ListOrder.Name), null)]
    [InlineData(nameof(ListOrder.Name), "tv")]
    [InlineData(nameof(ListOrder.Newest), "tv")]
    [InlineData(nameof(ListOrder.Size), "tv")]
    public async Task Search_reads_one_covering_index_and_no_table(string order, string? category)
    {
        await using var database = _temporary.OpenDatabase();
        var (list, table, by) = FileListStore.Plan(new FileSearch(["show"], category, null, ""), withPar2: false, Enum.Parse<ListOrder>(order));

        foreach (var isFirst in new[] { true, false })
        {
            var steps = await database.ExplainAsync(list.Sql(table, by, isFirst), new { words = "show", category, rank = 0, text = "", row = 0, most = 101 });

            Assert.Contains("COVERING INDEX library_file_search", steps[0], StringComparison.Ordinal);
            Assert.DoesNotContain(steps.Skip(1), step => step.Contains("SEARCH", StringComparison.Ordinal) || step.Contains("SCAN", StringComparison.Ordinal));
        }
    }

    [Fact]
    public async Task Release_length_follows_its_files()
    {
        await using var server = await RunningServer.StartAsync(_temporary);
        var (list, database) = (server.Services.GetRequiredService<LibraryList>(), server.Services.GetRequiredService<SluiceDatabase>());
        await database.WriteAsync(connection => Insert(connection, "Rel", 0, 500, "a.mkv", "b.mkv"), Token);
        Assert.Equal(1000, await BytesAsync());

        await database.WriteAsync(connection => connection.Execute("UPDATE library_file SET length = 900 WHERE path_key = 'a.mkv'"), Token);
        Assert.Equal(1400, await BytesAsync());
        await database.WriteAsync(connection => connection.Execute("DELETE FROM library_file WHERE path_key = 'b.mkv'"), Token);
        Assert.Equal(900, await BytesAsync());

        async Task<long?> BytesAsync() => (await list.ListAsync(["tv"], ListOrder.Name, null, 10, Token))!.Items.Single().Bytes;
    }

    private static long Insert(System.Data.Common.DbConnection connection, string name, int day, long length, params string[] paths) => LibraryStore.Insert(
        connection,
        new NewRelease(
            "tv", name, new string('a', 64),
            [new StoredPostedFile(0, SegmentPlaces.Range(0, 2), SegmentMap.Uniform(2, 600, 1000))],
            [.. paths.Select(path => new NewLibraryFile(Guid.NewGuid(), path, null, length, "tag", new FileContent([new ContentExtent(0, 0, 1000)])))]),
        Published.AddDays(day));
}
