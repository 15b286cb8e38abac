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
    public async Task Litter_of_desktops_costs_no_query(string path) =>
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
    [InlineData("PROPFIND /content")]
    [InlineData("PROPFIND /content/tv")]
    [InlineData("GET /content/tv/Rel/a.mkv")]
    [InlineData("OPTIONS /content/tv/Rel/a.mkv")]
    public async Task Tree_that_cannot_be_read_is_503_and_never_empty(string request)
    {
        var answer = await fixture.Server.SendAsync(request, "Depth: 1", "Content-Length: 0");

        Assert.Equal(503, answer.Status);
        Assert.Equal("30", answer["Retry-After"]);
        Assert.Empty(answer.Body);
    }

    [Fact]
    public async Task Row_in_the_middle_that_cannot_be_read_cuts_the_listing()
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
    public async Task File_whose_parts_cannot_be_read_is_503_and_its_head_stays()
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
