using System.Text;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Usenet.Tests.Mock;

public sealed class SpoolTests
{
    [Fact]
    public async Task Spooled_posts_are_found_by_message_id_and_dot_stuffed()
    {
        await using var mock = await MockServer.StartAsync(new MockOptions { Spool = Repository.Fixture("posts") });
        await using var client = await RawClient.OpenAsync(mock.Port);
        var doubled = 0;
        foreach (var path in Directory.EnumerateFiles(Repository.Fixture("posts/raw-dots"), "*.article").Order().Take(4))
        {
            var raw = await File.ReadAllBytesAsync(path, TestContext.Current.CancellationToken);
            var end = raw.AsSpan().IndexOf("\r\n\r\n"u8);
            var headers = Encoding.UTF8.GetString(raw, 0, end).Split("\r\n");
            var id = headers.Single(line => line.StartsWith("Message-ID: ", StringComparison.OrdinalIgnoreCase))["Message-ID: ".Length..];

            Assert.Equal($"222 0 {id}", await client.AskAsync($"BODY {id}"));
            var wire = await client.ReadBlockAsync();
            Assert.Equal(raw[(end + 4)..], RawArticle.Unstuff(wire));
            doubled += wire.AsSpan().Count("\r\n.."u8);

            Assert.Equal($"220 0 {id}", await client.AskAsync($"ARTICLE {id}"));
            Assert.Equal(raw, await client.ReadBodyAsync());
            Assert.Equal($"221 0 {id}", await client.AskAsync($"HEAD {id}"));
            Assert.Equal(raw[..(end + 2)], await client.ReadBodyAsync());
            Assert.Equal($"223 0 {id}", await client.AskAsync($"STAT {id}"));
        }

        Assert.NotEqual(0, doubled);
    }
}
