using Xunit;

namespace Sluice.Usenet.Tests.Tester;

/// <summary>
/// What the mock damages must not look good (contract TST-72). Each article is asked for again for as long as playback asks, which is
/// half a minute: the two cases are classes of their own, so that they wait at the same time.
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

/// <summary>The same with each article verified before a byte of it is served.</summary>
public sealed class TesterVerifiedDamageTests
{
    [Fact]
    public Task Damaged_articles_give_no_wrong_bytes() => TesterDamageTests.AssertNoWrongBytesAsync(verifyBeforeServe: true);
}
