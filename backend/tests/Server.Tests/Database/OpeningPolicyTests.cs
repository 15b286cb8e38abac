using Dapper;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Database;
using Sluice.Server.Tests.Startup;
using Xunit;

namespace Sluice.Server.Tests.Database;

public sealed class OpeningPolicyTests
{
    private static readonly BlobGeneration Beside = new("mine", 5);

    [Theory]
    // A first start, or an empty database without stored blobs.
    [InlineData("empty", null, 0, null)]
    [InlineData("empty", 5, 0, null)]
    // The database was deleted or created again.
    [InlineData("empty", 5, 1, "Emptied")]
    [InlineData("empty", null, 1, "Emptied")]
    [InlineData("no rows", null, 1, "Emptied")]
    // The database has rows, but the generation file next to the blobs is missing: it is created.
    [InlineData("rows", null, 3, null)]
    [InlineData("mine 5", null, 3, null)]
    // A clean stop, or a kill before the generation file was written.
    [InlineData("mine 5", 5, 3, null)]
    [InlineData("mine 6", 5, 3, null)]
    // An older database, or one from before generations existed.
    [InlineData("mine 4", 5, 3, "Older")]
    [InlineData("rows", 5, 3, "Older")]
    [InlineData("other 9", 5, 3, "Foreign")]
    // A crash between a blob and its row leaves a blob without a row.
    [InlineData("mine 5 no rows", 5, 1, null)]
    [InlineData("mine 4", 5, 0, null)]
    [InlineData("damaged", 5, 0, "Damaged")]
    public void Database_enters_safe_mode_unless_it_matches_the_blobs(string database, int? beside, int stored, string? cause)
    {
        var found = new DatabaseInspection
        {
            IsEmpty = database == "empty",
            Damage = database == "damaged" ? "damage" : null,
            Referenced = database.Contains("no rows", StringComparison.Ordinal) ? 0 : 3,
            Generation = database.Split(' ') is [("mine" or "other") and var id, var epoch, ..]
                ? new BlobGeneration(id, long.Parse(epoch, System.Globalization.CultureInfo.InvariantCulture))
                : null,
        };

        var judged = OpeningPolicy.Judge(found, beside is null ? null : Beside with { Epoch = beside.Value }, stored);

        Assert.Equal(cause, judged?.Cause.ToString());
    }

    [Theory]
    [InlineData(5, 7, 3, null)]
    [InlineData(5, 8, 4, null)]
    [InlineData(5, 6, 3, SafeModeCause.Older)]
    [InlineData(5, 9, 2, SafeModeCause.Older)]
    [InlineData(5, null, null, SafeModeCause.Older)]
    // A kill after the start was recorded in the database, and before it was recorded next to the blobs.
    [InlineData(6, 7, 3, null)]
    public void Database_below_the_saved_row_numbers_counts_as_older(int epoch, int? queueFile, int? historyItem, object? cause)
    {
        var found = new DatabaseInspection
        {
            Generation = new BlobGeneration("mine", epoch),
            Numbers = queueFile is null ? null : new RowNumbers(queueFile.Value, historyItem!.Value),
            Referenced = 3,
        };

        Assert.Equal(cause, OpeningPolicy.Judge(found, Beside with { Numbers = new RowNumbers(7, 3) }, 3)?.Cause);
        Assert.Null(OpeningPolicy.Judge(found, Beside, 3));
    }

    [Theory]
    [InlineData(10, 5, 0, false)]
    [InlineData(10, 6, 0, true)]
    [InlineData(1000, 10, 0, false)]
    [InlineData(1000, 11, 0, true)]
    [InlineData(1000, 500, 490, false)]
    public void Missing_nzbs_above_the_limit_enter_safe_mode(int referenced, int missing, int known, bool isSafeMode)
    {
        var hashes = Enumerable.Range(0, missing).Select(i => $"{i}").ToList();
        var found = new DatabaseInspection
        {
            Generation = new BlobGeneration("mine", 5),
            Referenced = referenced,
            Missing = hashes,
            KnownLost = hashes.Take(known).ToHashSet(),
        };

        Assert.Equal(isSafeMode ? SafeModeCause.NzbsMissing : null, OpeningPolicy.Judge(found, Beside, referenced - missing)?.Cause);
    }

    [Fact]
    public async Task Every_NZB_reference_column_is_read_through_its_index()
    {
        using var temporary = new TemporaryFolder();
        await using var server = await RunningServer.StartAsync(temporary);
        var references = server.Services.GetServices<BlobReference>().ToList();

        var (columns, plans) = await server.Services.GetRequiredService<SluiceDatabase>().ReadAsync(
            connection => (
                connection.Query<string>(
                    "SELECT t.name || '.' || c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table' AND c.name LIKE '%nzb_hash%'").ToList(),
                references.Select(reference => connection.QueryFirst($"EXPLAIN QUERY PLAN {reference.IndexSql}").detail + "|"
                    + connection.QueryFirst($"EXPLAIN QUERY PLAN {reference.TableSql}").detail).Cast<string>().ToList()),
            TestContext.Current.CancellationToken);

        Assert.Equal(columns.Order(), references.Where(reference => reference.IsNzb).Select(reference => $"{reference.Table}.{reference.Column}").Order());
        Assert.All(references.Zip(plans), pair =>
        {
            Assert.Contains($"USING COVERING INDEX {pair.First.Index}", pair.Second.Split('|')[0], StringComparison.Ordinal);
            Assert.DoesNotContain("INDEX", pair.Second.Split('|')[1], StringComparison.Ordinal);
        });
    }
}
