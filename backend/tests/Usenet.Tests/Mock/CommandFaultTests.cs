using System.Text;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Xunit;

namespace Sluice.Usenet.Tests.Mock;

public sealed class CommandFaultTests
{
    private static readonly string First = FaultBench.FirstId;
    private static readonly string Second = FaultBench.Release.MessageId(0, 2);

    [Theory]
    [InlineData(FaultKind.Missing, "430 ")]
    [InlineData(FaultKind.Command423, "423 ")]
    [InlineData(FaultKind.Command430, "430 ")]
    [InlineData(FaultKind.Command451, "451 ")]
    [InlineData(FaultKind.Command500, "500 ")]
    [InlineData(FaultKind.Command480, "480 ")]
    [InlineData(FaultKind.Command503, "503 ")]
    [InlineData(FaultKind.CommandGarbage, "\u00ff\u0001 ")]
    public async Task Fault_code_replaces_every_reply_about_an_article(FaultKind kind, string code)
    {
        await using var bench = await FaultBench.StartAsync(kind);
        await using var client = await bench.OpenAsync();
        foreach (var verb in new[] { "STAT", "HEAD", "BODY", "ARTICLE" })
            Assert.StartsWith(code, await client.AskAsync($"{verb} <{First}>"), StringComparison.Ordinal);
        bench.AssertCounted(kind, 4);

        // A fault of article commands leaves the other commands alone.
        var isOfAnyCommand = kind is FaultKind.Command500 or FaultKind.Command480 or FaultKind.Command503 or FaultKind.CommandGarbage;
        Assert.StartsWith(isOfAnyCommand ? code : "111 ", await client.AskAsync("DATE"), StringComparison.Ordinal);
        Assert.StartsWith(isOfAnyCommand ? code : "205 ", await client.AskAsync("QUIT"), StringComparison.Ordinal);
        bench.AssertCounted(kind, isOfAnyCommand ? 6 : 4);
    }

    [Theory]
    [InlineData("DATE", "111 ")]
    [InlineData("QUIT", "205 ")]
    public async Task Replies_to_DATE_and_QUIT_can_be_late_or_never_sent(string command, string code)
    {
        var clock = new ManualTimeProvider();
        var late = new MockFault { Kind = FaultKind.CommandSlow, Verb = command, Count = 1, Duration = TimeSpan.FromMilliseconds(300) };
        await using var bench = await FaultBench.StartAsync(late, time: clock);
        await using (var client = await bench.OpenAsync())
        {
            var answer = client.AskAsync(command);
            await Eventually.IsTrueAsync(() => bench.Mock.Stats.FaultCount(FaultKind.CommandSlow) == 1);
            Assert.False(answer.IsCompleted);
            clock.Advance(TimeSpan.FromMilliseconds(300));
            Assert.StartsWith(code, await answer, StringComparison.Ordinal);
        }

        bench.Mock.ChangeFaults([late with { Duration = TimeSpan.Zero }]);
        Task<string> never;
        await using (var client = await bench.OpenAsync())
        {
            never = client.AskAsync(command);
            await Eventually.IsTrueAsync(() => bench.Mock.Stats.FaultCount(FaultKind.CommandSlow) == 2);
            clock.Advance(TimeSpan.FromHours(1));
            Assert.False(never.IsCompleted);
        }

        await Assert.ThrowsAnyAsync<Exception>(() => never);
    }

    [Theory]
    [InlineData(FaultKind.Command400, "400 ")]
    [InlineData(FaultKind.Command502, "502 ")]
    public async Task Service_ending_codes_close_the_connection(FaultKind kind, string code)
    {
        await using var bench = await FaultBench.StartAsync(kind);
        await using var client = await bench.OpenAsync();
        Assert.StartsWith(code, await client.AskAsync($"BODY <{First}>"), StringComparison.Ordinal);
        Assert.Equal((0, false), await client.ReadToEndAsync() is var (bytes, reset) ? (bytes.Length, reset) : default);
        bench.AssertCounted(kind);
    }

    [Fact]
    public async Task Half_status_line_fault_sends_only_the_first_half()
    {
        await using var bench = await FaultBench.StartAsync(FaultKind.CommandHalf);
        await using var client = await bench.OpenAsync();
        await client.SendAsync($"STAT <{First}>");
        var whole = $"223 0 <{First}>";
        Assert.Equal(whole[..(whole.Length / 2)], Encoding.Latin1.GetString(await client.ReadAtLeastAsync(whole.Length / 2)));
        bench.AssertCounted(FaultKind.CommandHalf);
    }

    [Fact]
    public async Task Status_line_sent_slowly_is_complete()
    {
        await using var bench = await FaultBench.StartAsync(new MockFault { Kind = FaultKind.CommandDrip, Duration = TimeSpan.FromMilliseconds(1) });
        await using var client = await bench.OpenAsync();
        Assert.Equal($"223 0 <{First}>", await client.AskAsync($"STAT <{First}>"));
        bench.AssertCounted(FaultKind.CommandDrip);
    }

    [Fact]
    public async Task Fault_with_a_verb_affects_only_one_command()
    {
        await using var bench = await FaultBench.StartAsync(new MockFault { Kind = FaultKind.Command503, Verb = "DATE" });
        await using var client = await bench.OpenAsync();
        Assert.StartsWith("223 ", await client.AskAsync($"STAT <{First}>"), StringComparison.Ordinal);
        Assert.StartsWith("503 ", await client.AskAsync("DATE"), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(FaultKind.CommandBare, "222\r\n")]
    [InlineData(FaultKind.CommandLineFeed, "222 0 <ID>\n")]
    public async Task Malformed_status_line_precedes_a_good_body(FaultKind kind, string line)
    {
        await using var bench = await FaultBench.StartAsync(kind);
        await using var client = await bench.OpenAsync();
        await client.SendAsync($"BODY <{First}>");
        var bytes = await client.ReadBlockAsync();
        var expected = line.Replace("ID", First, StringComparison.Ordinal);
        Assert.Equal(expected, Encoding.Latin1.GetString(bytes, 0, expected.Length));
        Assert.Equal(FaultBench.Truth(1), RawArticle.Parse(RawArticle.Unstuff(bytes[expected.Length..])).Decoded);
        bench.AssertCounted(kind);
    }

    [Fact]
    public async Task Long_status_line_is_ten_mebibytes_long()
    {
        await using var bench = await FaultBench.StartAsync(FaultKind.CommandLong);
        await using var client = await bench.OpenAsync();
        await client.SendAsync($"STAT <{First}>");
        Assert.InRange((await client.ReadLineAsync()).Length, 10 << 20, (10 << 20) + 300);
        bench.AssertCounted(FaultKind.CommandLong);
    }

    [Fact]
    public async Task Wrong_article_fault_sends_another_article_with_its_own_id()
    {
        await using var bench = await FaultBench.StartAsync(FaultKind.CommandOtherId);
        await using var client = await bench.OpenAsync();
        Assert.Equal($"222 0 <{Second}>", await client.AskAsync($"BODY <{First}>"));
        Assert.Equal(FaultBench.Truth(2), RawArticle.Parse(await client.ReadBodyAsync()).Decoded);
        bench.AssertCounted(FaultKind.CommandOtherId);
    }

    [Fact]
    public async Task Replies_are_swapped_if_a_next_command_is_queued()
    {
        await using var bench = await FaultBench.StartAsync(new MockFault { Kind = FaultKind.CommandSwapped, Count = 1 }, provider: new MockProvider { Latency = TimeSpan.FromMilliseconds(20) });
        await using var client = await bench.OpenAsync();
        await client.SendAsync($"BODY <{First}>", $"BODY <{Second}>");
        Assert.Equal($"222 0 <{Second}>", await client.ReadLineAsync());
        Assert.Equal(FaultBench.Truth(2), RawArticle.Parse(await client.ReadBodyAsync()).Decoded);
        Assert.Equal($"222 0 <{First}>", await client.ReadLineAsync());
        Assert.Equal(FaultBench.Truth(1), RawArticle.Parse(await client.ReadBodyAsync()).Decoded);
        bench.AssertCounted(FaultKind.CommandSwapped);
    }

    [Fact]
    public async Task Swap_is_postponed_until_a_next_command_is_queued()
    {
        await using var bench = await FaultBench.StartAsync(new MockFault { Kind = FaultKind.CommandSwapped, Count = 1 });
        await using var client = await bench.OpenAsync();
        await client.ReadBodyAsync(First);
        Assert.Empty(bench.Mock.Stats.Faults);
        bench.Mock.Change(0, provider => provider with { Latency = TimeSpan.FromMilliseconds(20) });
        await client.SendAsync($"STAT <{First}>", $"STAT <{Second}>");
        Assert.Equal($"223 0 <{Second}>", await client.ReadLineAsync());
        Assert.Equal($"223 0 <{First}>", await client.ReadLineAsync());
        bench.AssertCounted(FaultKind.CommandSwapped);
    }

    [Fact]
    public async Task Count_limits_all_hits_and_tries_limits_hits_per_article()
    {
        await using var counted = await FaultBench.StartAsync(new MockFault { Kind = FaultKind.Command451, Count = 2 });
        await using var client = await counted.OpenAsync();
        string[] answers = [await client.AskAsync($"STAT <{First}>"), await client.AskAsync($"STAT <{Second}>"), await client.AskAsync($"STAT <{First}>")];
        Assert.Equal(["451", "451", "223"], answers.Select(answer => answer[..3]));
        counted.AssertCounted(FaultKind.Command451, 2);

        await using var tried = await FaultBench.StartAsync(new MockFault { Kind = FaultKind.YencEmpty, Tries = 2 });
        await using var other = await tried.OpenAsync();
        foreach (var id in new[] { First, First, Second })
            Assert.Empty(RawArticle.Parse(await other.ReadBodyAsync(id)).Decoded);
        Assert.Equal(FaultBench.Truth(1), RawArticle.Parse(await other.ReadBodyAsync(First)).Decoded);
    }

    [Fact]
    public async Task Repeated_reply_fault_sends_the_body_twice()
    {
        await using var bench = await FaultBench.StartAsync(FaultKind.CommandTwice);
        await using var client = await bench.OpenAsync();
        var body = await client.ReadBodyAsync(First);
        Assert.Equal($"222 0 <{First}>", await client.ReadLineAsync());
        Assert.Equal(body, await client.ReadBodyAsync());
        bench.AssertCounted(FaultKind.CommandTwice);
    }

    [Fact]
    public async Task Missing_articles_are_the_same_on_every_provider_and_attempt()
    {
        var release = MockRelease.Plain(1, 400 * 100, articleSize: 100);
        var options = new MockOptions { Missing = ArticleSelection.Share(0.1), Providers = [new(), new()] };
        await using var mock = await MockServer.StartAsync(options);
        await using var again = await MockServer.StartAsync(options);
        var first = await MissingAsync(mock.Ports[0], release);
        Assert.InRange(first.Count, 20, 65);
        Assert.Equal(first, await MissingAsync(mock.Ports[0], release));
        Assert.Equal(first, await MissingAsync(mock.Ports[1], release));
        Assert.Equal(first, await MissingAsync(again.Port, release));
        Assert.Equal(3 * first.Count, mock.Stats.FaultCount(FaultKind.Missing));
    }

    [Fact]
    public async Task Each_provider_covers_its_own_fixed_share_of_articles()
    {
        var release = MockRelease.Plain(1, 400 * 100, articleSize: 100);
        await using var mock = await MockServer.StartAsync(new MockOptions { Providers = [new() { Coverage = 0.5 }, new() { Coverage = 0.5 }, new()] });
        var first = await MissingAsync(mock.Ports[0], release);
        var second = await MissingAsync(mock.Ports[1], release);
        Assert.InRange(first.Count, 150, 250);
        Assert.InRange(first.Intersect(second).Count(), 60, 140);
        Assert.Equal(first, await MissingAsync(mock.Ports[0], release));
        Assert.Empty(await MissingAsync(mock.Ports[2], release));
    }

    [Fact]
    public async Task Fault_changes_take_effect_while_running()
    {
        await using var mock = await MockServer.StartAsync();
        await using var client = await RawClient.OpenAsync(mock.Port);
        Assert.StartsWith("223 ", await client.AskAsync($"STAT <{Second}>"), StringComparison.Ordinal);
        mock.ChangeMissing(ArticleSelection.Parse("2-3"));
        Assert.StartsWith("430 ", await client.AskAsync($"STAT <{Second}>"), StringComparison.Ordinal);
        Assert.StartsWith("223 ", await client.AskAsync($"STAT <{First}>"), StringComparison.Ordinal);
        mock.ChangeMissing(ArticleSelection.None);
        mock.Change(0, provider => provider with { Faults = [new MockFault { Kind = FaultKind.Command451, Articles = ArticleSelection.Article(First) }] });
        Assert.StartsWith("223 ", await client.AskAsync($"STAT <{Second}>"), StringComparison.Ordinal);
        Assert.StartsWith("451 ", await client.AskAsync($"STAT <{First}>"), StringComparison.Ordinal);
    }

    private static async Task<List<string>> MissingAsync(int port, MockRelease release)
    {
        await using var client = await RawClient.OpenAsync(port);
        var missing = new List<string>();
        foreach (var id in release.MessageIds())
        {
            if ((await client.AskAsync($"STAT <{id}>")).StartsWith("430", StringComparison.Ordinal))
                missing.Add(id);
        }

        return missing;
    }
}
