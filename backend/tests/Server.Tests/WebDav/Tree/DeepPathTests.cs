using Xunit;

namespace Sluice.Server.Tests.WebDav.Tree;

/// <summary>Paths as deep as a request allows are not found (S23).</summary>
public sealed class DeepPathTests(QueueFixture fixture) : IClassFixture<QueueFixture>
{
    private static readonly string Deep = string.Concat(Enumerable.Repeat("/a", 10_000));

    [Theory]
    [InlineData("GET", "/content", 404)]
    [InlineData("PROPFIND", "/content", 404)]
    [InlineData("PROPFIND", "/completed-symlinks", 404)]
    [InlineData("PROPFIND", "/.ids", 404)]
    [InlineData("PROPFIND", "/nzbs", 404)]
    [InlineData("DELETE", "/nzbs", 404)]
    [InlineData("DELETE", "/completed-symlinks", 404)]
    [InlineData("DELETE", "/content", 404)]
    [InlineData("MOVE", "/content", 404)]
    [InlineData("COPY", "/content", 404)]
    [InlineData("MKCOL", "/content", 409)]
    [InlineData("PUT", "/nzbs", 409)]
    [InlineData("LOCK", "/nzbs", 409)]
    public async Task Path_10000_levels_deep_is_treated_as_unknown(string verb, string branch, int status)
    {
        const string Wish = "<lockinfo xmlns='DAV:'><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>";
        var body = verb == "LOCK" ? Wish : "";

        Assert.Equal(status, (await fixture.Server.SendBodyAsync($"{verb} {branch}{Deep}", body, "Destination: /content/x")).Status);
    }
}
