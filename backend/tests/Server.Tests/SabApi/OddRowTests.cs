using System.Net;
using Dapper;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Xunit;

namespace Sluice.Server.Tests.SabApi;

/// <summary>Rows that this program would not have written, and lists that fail in the middle.</summary>
public sealed class OddRowTests : IDisposable
{
    private const int Rows = 300;

    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Theory]
    [InlineData("steps = 'odd'")]
    [InlineData("steps = '[{}]'")]
    [InlineData("steps = '[null]'")]
    [InlineData("steps = 'null'")]
    [InlineData("completed_at = 9223372036854775807")]
    [InlineData("started_at = -9223372036854775808")]
    [InlineData("added_at = 9223372036854775807")]
    public async Task Corrupt_history_row_hides_no_other_row(string change)
    {
        await using var host = await ProductHost.StartAsync(_folder);
        await FillAsync(host, change);

        var history = (await host.CallAsync($"mode=history&limit={Rows}", Token)).GetProperty("history");

        Assert.Equal(Rows, history.GetProperty("slots").GetArrayLength());
    }

    [Fact]
    public async Task Item_without_a_folder_never_names_its_category_folder()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        await host.Get<SluiceDatabase>().InsertAsync(
            HistoryStore.Insert, new HistoryItem { Id = "odd", Name = "Odd", NzbName = "Odd.nzb", Category = "tv", Folder = "tv" });

        var slot = (await host.CallAsync("mode=history", Token)).GetProperty("history").GetProperty("slots")[0];

        Assert.Equal(("Completed", "", ""), (slot.GetProperty("status").GetString(), slot.GetProperty("storage").GetString(), slot.GetProperty("path").GetString()));
    }

    [Fact]
    public async Task Failing_list_returns_an_error_or_a_truncated_response()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        // The number is too large for the field. It is in the oldest row, which is listed last.
        await FillAsync(host, "priority = 9223372036854775807");

        using var unsent = await host.Client.GetAsync(
            new Uri($"/api?apikey={ProductHost.Key}&mode=history&start={Rows - 5}&limit=5", UriKind.Relative), Token);
        Assert.Equal((HttpStatusCode.InternalServerError, ""), (unsent.StatusCode, await unsent.Content.ReadAsStringAsync(Token)));

        await Assert.ThrowsAsync<HttpRequestException>(() => host.CallAsync($"mode=history&limit={Rows}", Token));
        await Assert.ThrowsAsync<HttpRequestException>(() => host.CallAsync($"mode=history&limit={Rows}&output=xml", Token));
    }

    [Theory]
    [InlineData("properties = 'odd'")]
    [InlineData("properties = '[{}]'")]
    [InlineData("properties = '[null,{\"Name\":{\"Namespace\":\"urn:x\",\"Local\":\"p\"}}]'")]
    [InlineData("added_at = 9223372036854775807")]
    public async Task Corrupt_queue_file_row_hides_no_other_file(string change)
    {
        await using var host = await ProductHost.StartAsync(_folder);
        foreach (var name in new[] { "a", "b", "c" })
            await host.PutAsync($"/nzbs/tv/{name}.nzb", NzbText.Of(name), Token);
        await host.Get<SluiceDatabase>().WriteAsync(connection => connection.Execute($"UPDATE queue_file SET {change} WHERE name = 'b.nzb'"), Token);

        using var answer = await host.SendAsync(new HttpMethod("PROPFIND"), "/nzbs/tv/", null, Token);

        Assert.Equal(HttpStatusCode.MultiStatus, answer.StatusCode);
        var listing = System.Xml.Linq.XDocument.Parse(await answer.Content.ReadAsStringAsync(Token));
        Assert.Equal(4, listing.Root!.Elements().Count());
    }

    /// <summary>Writes a history and changes its oldest row.</summary>
    private static async Task FillAsync(ProductHost host, string change)
    {
        var database = host.Get<SluiceDatabase>();
        await database.InsertAsync(HistoryStore.Insert, Enumerable.Range(0, Rows).Select(i => new HistoryItem
        {
            Id = $"id-{i}",
            Name = $"Release {i}",
            NzbName = $"Release {i}.nzb",
            Category = "tv",
            Folder = "tv",
            ReleaseFolder = $"Release {i}",
        }));
        await database.WriteAsync(connection => connection.Execute($"UPDATE history_item SET {change} WHERE id = 'id-0'"), Token);
    }
}
