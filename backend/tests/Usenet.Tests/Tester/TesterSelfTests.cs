using System.Text;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Usenet.Tests.Tester;

/// <summary>The tester tests itself (contract TST-72): it must report every deliberate fault of the mock.</summary>
public sealed class TesterSelfTests
{
    [Fact]
    public async Task Wrong_bytes_with_a_valid_CRC_are_found_and_located()
    {
        // An article of another release under the same number and range: its header, length and CRC are right, its bytes are not.
        var good = MockRelease.Plain(1, 2 << 20, articleSize: 52_429);
        var other = MockRelease.Plain(2, 2 << 20, articleSize: 52_429);
        var nzb = Encoding.UTF8.GetString(good.ToNzb()).Replace(good.MessageId(0, 5), other.MessageId(0, 5), StringComparison.Ordinal);
        var call = await WithNzbAsync(nzb, "--steps=7", "--json=-");
        call.AssertExit(1);
        Assert.True(call.Json().GetProperty("metrics").GetProperty("bytes_wrong").GetInt64() > 50_000, call.Error);
        Assert.Contains(call.Json().GetProperty("failures").EnumerateArray(), failure => failure.GetString()!.StartsWith(
            "first wrong byte of film.mkv at offset 209716: expected 0x", StringComparison.Ordinal) && failure.GetString()!.EndsWith("article 5, provider mock", StringComparison.Ordinal));
    }

    [Fact]
    public async Task Body_short_on_every_attempt_is_a_failure()
    {
        var call = await WithFaultsAsync("""{"kind":"yenc.short","article":"7","tries":0}""", "--steps=7");
        call.AssertExit(1);
        Assert.Contains("Article 7", call.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Connection_dropped_on_every_attempt_is_a_failure()
    {
        var call = await WithFaultsAsync("""{"kind":"body.fin","article":"1","offset":10,"tries":0}""", "--steps=1");
        call.AssertExit(1);
        Assert.Contains("step 1", call.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Connection_over_the_cap_fails_despite_correct_bytes()
    {
        var call = await TesterCall.SmallAsync("--steps=7", "--max-conns=1", "--latency=20", "--json=-");
        call.AssertExit(1);
        Assert.Equal(0, call.Json().GetProperty("metrics").GetProperty("bytes_wrong").GetInt64());
        Assert.Contains(call.Json().GetProperty("failures").EnumerateArray(), failure => failure.GetString()!.Contains("over its cap", StringComparison.Ordinal));
    }

    [Fact]
    public async Task Missing_articles_leave_no_wrong_or_unproved_bytes()
    {
        var call = await TesterCall.SmallAsync("--steps=6-7", "--missing=7,20-21", "--json=-");
        call.AssertExit(0);
        var metrics = call.Json().GetProperty("metrics");
        Assert.Equal((0, 0), (metrics.GetProperty("bytes_wrong").GetInt64(), metrics.GetProperty("bytes_unproved").GetInt64()));
        Assert.True(call.Json().GetProperty("mock").GetProperty("faults").GetProperty("missing").GetInt64() >= 3);
    }

    [Fact]
    public async Task Second_provider_fills_the_holes_of_the_first()
    {
        var call = await TesterCall.SmallAsync("--steps=7", "--providers=2", "--coverage=0.5,1.0", "--json=-");
        call.AssertExit(0);
        var coverage = call.Json().GetProperty("mock").GetProperty("providers")[0].GetProperty("faults").GetProperty("coverage").GetInt64();
        Assert.InRange(coverage, 1, 40);
    }

    [Fact]
    public async Task Dropped_connections_are_retried_and_the_counts_agree()
    {
        var call = await WithFaultsAsync("""{"kind":"body.rst","rate":0.2}""", "--steps=7", "--json=-");
        call.AssertExit(0);
        Assert.True(call.Json().GetProperty("mock").GetProperty("faults").GetProperty("body.rst").GetInt64() >= 1);
    }

    private static Task<TesterCall> WithFaultsAsync(string script, params string[] more) => WithFileAsync(script, path => TesterCall.SmallAsync([.. more, $"--faults={path}"]));

    private static Task<TesterCall> WithNzbAsync(string nzb, params string[] more) => WithFileAsync(nzb, path => TesterCall.SmallAsync([path, .. more]));

    private static async Task<TesterCall> WithFileAsync(string text, Func<string, Task<TesterCall>> call)
    {
        var folder = Directory.CreateTempSubdirectory("tester-");
        try
        {
            var path = Path.Combine(folder.FullName, "film.nzb");
            await File.WriteAllTextAsync(path, text, TestContext.Current.CancellationToken);
            return await call(path);
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }
}
