using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Xunit;

namespace Sluice.Usenet.Tests.Mock;

public sealed class ProtocolTests
{
    private static readonly string Id = MockRelease.Plain(1, 1000).MessageId(0, 1);

    [Theory]
    [InlineData("MODE READER", "200 ")]
    [InlineData("mode reader", "200 ")]
    [InlineData("GROUP alt.binaries.test", "211 ")]
    [InlineData("DATE", "111 ")]
    [InlineData("QUIT", "205 ")]
    [InlineData("XFOO", "500 ")]
    [InlineData("", "500 ")]
    [InlineData("BODY 17", "423 ")]
    [InlineData("BODY <nothing@nowhere>", "430 ")]
    [InlineData("STAT <nothing@nowhere>", "430 ")]
    [InlineData("AUTHINFO PASS early", "482 ")]
    public async Task Single_line_commands_get_their_reply_code(string command, string answer)
    {
        await using var mock = await MockServer.StartAsync();
        await using var client = await RawClient.OpenAsync(mock.Port);
        Assert.StartsWith(answer, await client.AskAsync(command), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Pipelined_commands_are_answered_in_order_with_their_ids()
    {
        await using var mock = await MockServer.StartAsync();
        await using var client = await RawClient.OpenAsync(mock.Port);
        await client.SendAsync("CAPABILITIES", "HELP", $"STAT <{Id}>", $"HEAD <{Id}>", $"ARTICLE <{Id}>", "DATE");

        Assert.StartsWith("101 ", await client.ReadLineAsync(), StringComparison.Ordinal);
        await client.ReadBlockAsync();
        Assert.StartsWith("100 ", await client.ReadLineAsync(), StringComparison.Ordinal);
        await client.ReadBlockAsync();
        Assert.Equal($"223 0 <{Id}>", await client.ReadLineAsync());
        Assert.Equal($"221 0 <{Id}>", await client.ReadLineAsync());
        var head = await client.ReadBodyAsync();
        Assert.Equal($"220 0 <{Id}>", await client.ReadLineAsync());
        var article = await client.ReadBodyAsync();
        Assert.StartsWith("111 ", await client.ReadLineAsync(), StringComparison.Ordinal);
        var body = await client.ReadBodyAsync(Id);
        Assert.Equal((byte[])[.. head, .. "\r\n"u8, .. body], article);
    }

    [Fact]
    public async Task Login_is_required_if_a_user_is_set()
    {
        await using var mock = await MockServer.StartAsync(new MockOptions { Providers = [new MockProvider { User = "anna", Password = "s3cret" }] });
        await using var client = await RawClient.OpenAsync(mock.Port);
        Assert.StartsWith("480 ", await client.AskAsync($"STAT <{Id}>"), StringComparison.Ordinal);
        Assert.StartsWith("101 ", await client.AskAsync("CAPABILITIES"), StringComparison.Ordinal);
        await client.ReadBlockAsync();
        Assert.StartsWith("381 ", await client.AskAsync("AUTHINFO USER anna"), StringComparison.Ordinal);
        Assert.StartsWith("481 ", await client.AskAsync("AUTHINFO PASS wrong"), StringComparison.Ordinal);
        Assert.StartsWith("480 ", await client.AskAsync($"STAT <{Id}>"), StringComparison.Ordinal);
        Assert.StartsWith("381 ", await client.AskAsync("AUTHINFO USER anna"), StringComparison.Ordinal);
        Assert.StartsWith("281 ", await client.AskAsync("AUTHINFO PASS s3cret"), StringComparison.Ordinal);
        Assert.StartsWith("223 ", await client.AskAsync($"STAT <{Id}>"), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Connection_over_the_cap_gets_502_until_one_closes(bool atLogin)
    {
        await using var mock = await MockServer.StartAsync(new MockOptions { Providers = [new MockProvider { MaxConnections = 2, CapAtLogin = atLogin, User = "u", Password = "p" }] });
        await using var one = await RawClient.OpenAsync(mock.Port);
        await using var two = await RawClient.OpenAsync(mock.Port);
        await LogInAsync(one);
        await LogInAsync(two);

        var over = await RawClient.ConnectAsync(mock.Port);
        if (atLogin)
        {
            Assert.StartsWith("200 ", await over.ReadLineAsync(), StringComparison.Ordinal);
            Assert.StartsWith("381 ", await over.AskAsync("AUTHINFO USER u"), StringComparison.Ordinal);
            await over.SendAsync("AUTHINFO PASS p");
        }

        Assert.StartsWith("502 ", await over.ReadLineAsync(), StringComparison.Ordinal);
        Assert.Empty((await over.ReadToEndAsync()).Bytes);
        Assert.Equal(3, mock.Stats.ConnectionsNow);
        await over.DisposeAsync();
        await two.DisposeAsync();

        await using var next = await RawClient.OpenAsync(mock.Port);
        await LogInAsync(next);
        await Eventually.IsTrueAsync(() => mock.Stats.ConnectionsNow == 2);
        Assert.Equal((1, 3, 4), (mock.Stats.Refused, mock.Stats.ConnectionsPeak, mock.Stats.Opened));
    }

    [Fact]
    public async Task Article_numbers_work_once_a_group_is_selected()
    {
        await using var mock = await MockServer.StartAsync();
        await using var client = await RawClient.OpenAsync(mock.Port);
        Assert.StartsWith("423 ", await client.AskAsync("STAT 1000000"), StringComparison.Ordinal);

        Assert.Equal("211 1000000 1 1000000 alt.binaries.test", await client.AskAsync("GROUP alt.binaries.test"));

        Assert.StartsWith("223 ", await client.AskAsync("STAT 1000000"), StringComparison.Ordinal);
        Assert.StartsWith("423 ", await client.AskAsync("STAT 1000001"), StringComparison.Ordinal);
        Assert.StartsWith("222 0 <", await client.AskAsync("BODY 1"), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Login_refusal_uses_the_text_in_the_script()
    {
        var faults = FaultScript.Parse("""{"kind":"auth.481","text":"481 Account expired"}""");
        await using var mock = await MockServer.StartAsync(new MockOptions { Faults = faults, Providers = [new MockProvider { User = "u", Password = "p" }] });
        await using var client = await RawClient.OpenAsync(mock.Port);
        await client.AskAsync("AUTHINFO USER u");

        Assert.Equal("481 Account expired", await client.AskAsync("AUTHINFO PASS p"));
        Assert.Equal(1, mock.Stats.HandshakesPeak);
    }

    [Fact]
    public async Task Sequential_connections_never_raise_the_peak()
    {
        await using var mock = await MockServer.StartAsync(new MockOptions { Providers = [new MockProvider { MaxConnections = 1 }] });
        for (var i = 0; i < 200; i++)
        {
            await using var client = await RawClient.OpenAsync(mock.Port);
        }

        Assert.Equal((0, 1, 200), (mock.Stats.Refused, mock.Stats.ConnectionsPeak, mock.Stats.Opened));
    }

    /// <summary>The engine closes at one provider and then opens at another; two threads of the mock may see that in reverse order.</summary>
    [Fact]
    public async Task Alternating_providers_never_raise_the_overall_peak()
    {
        await using var mock = await MockServer.StartAsync(new MockOptions { Providers = [new MockProvider(), new MockProvider()] });
        for (var i = 0; i < 200; i++)
        {
            await using var client = await RawClient.OpenAsync(mock.Ports[i % 2]);
        }

        Assert.Equal((1, 200), (mock.Stats.ConnectionsPeak, mock.Stats.Opened));
        Assert.All(mock.ProviderStats, provider => Assert.Equal((1, 100), (provider.ConnectionsPeak, provider.Opened)));

        await using var one = await RawClient.OpenAsync(mock.Ports[0]);
        await using var other = await RawClient.OpenAsync(mock.Ports[1]);
        Assert.Equal(2, mock.Stats.ConnectionsPeak);
        Assert.All(mock.ProviderStats, provider => Assert.Equal(1, provider.ConnectionsPeak));
    }

    [Fact]
    public async Task Socket_is_counted_until_the_client_closes_it()
    {
        await using var mock = await MockServer.StartAsync();
        var client = await RawClient.OpenAsync(mock.Port);
        Assert.StartsWith("205 ", await client.AskAsync("QUIT"), StringComparison.Ordinal);
        Assert.Empty((await client.ReadToEndAsync()).Bytes);
        Assert.Equal(1, mock.Stats.ConnectionsNow);
        await client.DisposeAsync();
        await Eventually.IsTrueAsync(() => mock.Stats.ConnectionsNow == 0);
    }

    [Fact]
    public async Task Counters_include_unanswered_commands_and_canceled_bodies()
    {
        var id = MockRelease.Plain(1, 30_000_000, articleSize: 30_000_000).MessageId(0, 1);
        await using var mock = await MockServer.StartAsync();
        var client = await RawClient.OpenAsync(mock.Port);
        await client.SendAsync($"BODY <{id}>", $"STAT <{id}>", "NONSENSE");
        await client.ReadAtLeastAsync(100_000);
        await client.DisposeAsync();
        await Eventually.IsTrueAsync(() => mock.Stats.CancelledBodies == 1 && mock.Stats.Unanswered == 3);

        Assert.Equal(new Dictionary<string, long> { ["BODY"] = 1, ["OTHER"] = 1, ["STAT"] = 1 }, mock.Stats.Commands);
        Assert.Equal((1, 0), (mock.Stats.BodyCount(id), mock.Stats.Articles));

        mock.Reset();
        Assert.Empty(mock.Stats.Commands);
        Assert.Equal((0, 0, 0), (mock.Stats.BodyCount(id), mock.Stats.CancelledBodies, mock.ProviderStats[0].Opened));
    }

    private static async Task LogInAsync(RawClient client)
    {
        Assert.StartsWith("381 ", await client.AskAsync("AUTHINFO USER u"), StringComparison.Ordinal);
        Assert.StartsWith("281 ", await client.AskAsync("AUTHINFO PASS p"), StringComparison.Ordinal);
    }
}
