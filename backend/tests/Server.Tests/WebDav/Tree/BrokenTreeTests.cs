using Dapper;
using Xunit;

namespace Sluice.Server.Tests.WebDav.Tree;

/// <summary>The tree while its database cannot be read (DAV-6).</summary>
public sealed class BrokenTreeTests(BrokenTreeFixture fixture) : IClassFixture<BrokenTreeFixture>
{
    [Theory]
    [InlineData("/content/tv/.DS_Store")]
    [InlineData("/content/tv/Rel/._a.mkv")]
    [InlineData("/nzbs/Thumbs.db")]
    [InlineData("/desktop.ini")]
    [InlineData("/.metadata_never_index")]
    public async Task Desktop_metadata_files_return_404_without_a_query(string path) =>
        Assert.Equal(404, (await fixture.Server.SendAsync("GET " + path)).Status);

    [Theory]
    [InlineData("PROPFIND /")]
    [InlineData("GET /")]
    [InlineData("GET /README")]
    [InlineData("GET /.health")]
    [InlineData("PROPFIND /nzbs")]
    [InlineData("PROPFIND /nzbs/tv")]
    [InlineData("DELETE /nzbs/tv/a.nzb")]
    [InlineData("PUT /nzbs/tv/a.nzb")]
    [InlineData("PROPFIND /completed-symlinks")]
    [InlineData("PROPFIND /completed-symlinks/.probe")]
    [InlineData("GET /completed-symlinks/.probe/probe.mkv.rclonelink")]
    [InlineData("PROPFIND /content")]
    [InlineData("PROPFIND /content/tv")]
    [InlineData("GET /content/tv/Rel/a.mkv")]
    [InlineData("OPTIONS /content/tv/Rel/a.mkv")]
    public async Task Unreadable_tree_returns_503_never_an_empty_listing(string request)
    {
        var answer = await fixture.Server.SendAsync(request, "Depth: 1", "Content-Length: 0");

        Assert.Equal(503, answer.Status);
        Assert.Equal("30", answer["Retry-After"]);
        Assert.Empty(answer.Body);
    }

    [Fact]
    public async Task Unreadable_row_mid_listing_resets_the_connection()
    {
        await using var server = await TreeServer.StartAsync();
        await server.PublishAsync("tv", "Rel", [.. Enumerable.Range(0, 1000).Select(i => $"{i:0000}.mkv")]);
        await server.Database.WriteAsync(
            connection => connection.Execute("UPDATE library_file SET id = 'none' WHERE path_key = '0700.mkv'"), TestContext.Current.CancellationToken);

        await using var connection = await RawConnection.OpenAsync(server.Address);
        await connection.SendAsync("PROPFIND /content/tv/Rel/", TreeServer.Credentials, "Depth: 1");
        var answer = await connection.ReadAnswerOrResetAsync();

        Assert.True(answer.WasReset, $"complete: {answer.IsComplete}, clean end: {answer.EndedCleanly}");
    }

    [Fact]
    public async Task Unreadable_parts_return_503_for_Get_but_200_for_Head()
    {
        await using var server = await TreeServer.StartAsync();
        await server.PublishAsync("tv", "Rel", "a.mkv");
        await server.Database.WriteAsync(
            connection => connection.Execute("ALTER TABLE posted_file RENAME TO p"), TestContext.Current.CancellationToken);

        var answer = await server.SendAsync("GET /content/tv/Rel/a.mkv");

        Assert.Equal(503, answer.Status);
        Assert.Equal("30", answer["Retry-After"]);
        Assert.Equal("no-store", answer["Cache-Control"]);
        Assert.Empty(answer.Body);
        Assert.Equal(200, (await server.SendAsync("HEAD /content/tv/Rel/a.mkv")).Status);
    }
}
