using System.Text;
using Dapper;
using Sluice.Server.Tests.Queue;
using Xunit;

namespace Sluice.Server.Tests.WebDav.Tree;

/// <summary>Every write while the database is full (F34), simulated by a page limit: SQLite fails as on a full disk.</summary>
public sealed class FullDiskTests
{
    private const string PropertyUpdate =
        """<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><x xmlns="urn:x">1</x></D:prop></D:set></D:propertyupdate>""";

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData("DELETE /nzbs/tv/a.nzb", 204)]
    [InlineData("MOVE /nzbs/tv/a.nzb", 201)]
    [InlineData("PROPPATCH /nzbs/tv/a.nzb", 207)]
    [InlineData("PUT /nzbs/tv/b.nzb", 201)]
    [InlineData("DELETE /completed-symlinks/tv/Rel", 204)]
    public async Task Tree_change_on_a_full_disk_returns_507(string request, int later)
    {
        await using var server = await TreeServer.StartAsync();
        await server.PutAsync("/nzbs/tv/a.nzb", Encoding.UTF8.GetString(NzbText.Of("a.mkv")));
        await server.PublishCompletedAsync("tv", "Rel", "a.mkv");
        await FillAsync(server);
        List<string> before = [.. (await server.ItemsAsync()).Select(item => item.Name)];

        var refused = await SendAsync(server, request);

        Assert.Equal(507, refused.Status);
        Assert.Equal("30", refused["Retry-After"]);
        Assert.Empty(refused.Body);
        Assert.Equal(before, (await server.ItemsAsync()).Select(item => item.Name));
        Assert.Equal(200, (await server.SendAsync("HEAD /content/tv/Rel/a.mkv")).Status);
        Assert.Equal("""{"status":"ok","writes":"disk"}""", (await server.SendAsync("GET /readyz")).Text);

        await MakeRoomAsync(server);
        Assert.Equal(later, (await SendAsync(server, request)).Status);
        Assert.Equal("""{"status":"ok"}""", (await server.SendAsync("GET /readyz")).Text);
    }

    [Fact]
    public async Task Link_delete_on_a_full_disk_returns_507_and_keeps_the_link()
    {
        const string First = "/completed-symlinks/tv/Rel/a.mkv.rclonelink";
        const string Second = "/completed-symlinks/tv/Rel/b.mkv.rclonelink";
        await using var server = await TreeServer.StartAsync();
        await server.PublishCompletedAsync("tv", "Rel", "a.mkv", "b.mkv");
        await server.Database.WriteAsync(connection => connection.Execute("UPDATE release SET claim = 0"), Token);
        await FillAsync(server);

        for (var i = 0; i < 2; i++)
        {
            var refused = await server.SendAsync("DELETE " + First);
            Assert.Equal((507, "30"), (refused.Status, refused["Retry-After"]));
            Assert.Equal(200, (await server.SendAsync("HEAD " + First)).Status);
        }

        await MakeRoomAsync(server);
        Assert.Equal(204, (await server.SendAsync("DELETE " + First)).Status);
        Assert.Equal(404, (await server.SendAsync("HEAD " + First)).Status);

        // The first link has marked the release as taken, so the second one writes nothing.
        await server.Database.WriteAsync(connection => connection.Execute("PRAGMA max_page_count = 1"), Token);
        Assert.Equal(204, (await server.SendAsync("DELETE " + Second)).Status);
    }

    [Theory]
    [InlineData("name=delete&value=")]
    [InlineData("name=pause&value=")]
    [InlineData("name=resume&value=")]
    public async Task Queue_call_on_a_full_disk_returns_Disk_is_full(string query)
    {
        await using var server = await TreeServer.StartAsync();
        await server.PutAsync("/nzbs/tv/a.nzb", Encoding.UTF8.GetString(NzbText.Of("a.mkv")));
        var id = (await server.ItemsAsync()).Single().Id;
        await FillAsync(server);

        var refused = await server.SendAsync($"GET /api?apikey={TreeServer.Key}&output=json&mode=queue&{query}{id}");

        Assert.Equal((200, """{"status":false,"error":"Disk is full"}"""), (refused.Status, refused.Text));
        Assert.Single(await server.ItemsAsync());
    }

    private static Task<RawAnswer> SendAsync(TreeServer server, string request) => request.Split(' ')[0] switch
    {
        "PUT" => server.SendBodyAsync(request, Encoding.UTF8.GetString(NzbText.Of("b.mkv"))),
        "PROPPATCH" => server.SendBodyAsync(request, PropertyUpdate),
        "MOVE" => server.SendAsync(request, "Destination: /nzbs/tv/c.nzb"),
        _ => server.SendAsync(request),
    };

    /// <summary>Leaves the database without room: triggers make every change need more pages.</summary>
    private static Task<int> FillAsync(TreeServer server) => server.Database.WriteAsync(
        connection =>
        {
            connection.Execute("CREATE TABLE filler (bytes BLOB)");
            foreach (var table in new[] { "queue_item", "queue_file", "history_item" })
            {
                foreach (var verb in new[] { "INSERT", "UPDATE", "DELETE" })
                    connection.Execute($"CREATE TRIGGER {table}_{verb} AFTER {verb} ON {table} BEGIN INSERT INTO filler VALUES (zeroblob(1000000)); END");
            }

            return connection.Execute("PRAGMA max_page_count = 1");
        },
        Token);

    private static Task<int> MakeRoomAsync(TreeServer server) =>
        server.Database.WriteAsync(connection => connection.Execute("PRAGMA max_page_count = 1000000"), Token);
}
