using Microsoft.AspNetCore.Builder;
using Xunit;

namespace Sluice.Server.Tests.WebDav.Tree;

/// <summary>DAV-3 and DAV-92: the tree and the other endpoints of the port never share a name.</summary>
public sealed class RouteAssertionTests
{
    [Theory]
    [InlineData("/content/clip")]
    [InlineData("/README")]
    [InlineData("/unreserved")]
    [InlineData("/{anything}")]
    public async Task Route_shadowing_the_tree_fails_startup(string pattern)
    {
        var failure = await Assert.ThrowsAsync<InvalidOperationException>(
            () => TreeServer.StartAsync(app => app.MapGet(pattern, () => "mine")));

        Assert.Contains(pattern, failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Route_at_a_reserved_name_takes_precedence_over_the_tree()
    {
        await using var server = await TreeServer.StartAsync(app => app.MapGet("/metrics/mine", () => "mine"));

        Assert.Equal("mine", (await server.SendAsync("GET /metrics/mine")).Text);
        Assert.Equal(404, (await server.SendAsync("PROPFIND /metrics/mine")).Status);
    }
}
