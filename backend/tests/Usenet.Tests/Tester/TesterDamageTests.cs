using Xunit;

namespace Sluice.Usenet.Tests.Tester;

/// <summary>
/// The tester must report damage by the mock (contract TST-72). Each damaged article is retried for as long as playback retries, half a
/// minute, so the two cases are separate classes, which wait concurrently.
/// </summary>
public sealed class TesterDamageTests
{
    [Fact]
    public Task Damaged_articles_give_no_wrong_bytes() => AssertNoWrongBytesAsync(verifyBeforeServe: false);

    internal static async Task AssertNoWrongBytesAsync(bool verifyBeforeServe)
    {
        string[] more = verifyBeforeServe ? ["--verify-before-serve"] : [];
        var call = await TesterCall.SmallAsync([.. more, "--steps=6-7", "--corrupt=5,11,21,31", "--json=-"]);
        call.AssertExit(0);
        var metrics = call.Json().GetProperty("metrics");
        Assert.Equal(0, metrics.GetProperty("bytes_wrong").GetInt64());
        if (verifyBeforeServe)
            Assert.Equal(0, metrics.GetProperty("bytes_unproved").GetInt64());
        Assert.True(call.Json().GetProperty("mock").GetProperty("faults").GetProperty("corrupt").GetInt64() >= 4);
    }
}

/// <summary>The tester must report damage by the mock if each article is verified before any of its bytes is served.</summary>
public sealed class TesterVerifiedDamageTests
{
    [Fact]
    public Task Damaged_articles_give_no_wrong_bytes() => TesterDamageTests.AssertNoWrongBytesAsync(verifyBeforeServe: true);
}
