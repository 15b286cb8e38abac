using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Xunit;

namespace Sluice.Usenet.Tests.Mock;

/// <summary>A mock with one fault, and a release of four articles that trigger it.</summary>
internal sealed class FaultBench : IAsyncDisposable
{
    private FaultBench(MockServer mock) => Mock = mock;

    public static MockRelease Release { get; } = MockRelease.Plain(1, 80_000, articleSize: 20_000);

    public static string FirstId { get; } = Release.MessageId(0, 1);

    public MockServer Mock { get; }

    public static Task<FaultBench> StartAsync(FaultKind kind, TimeProvider? time = null) => StartAsync(new MockFault { Kind = kind }, time);

    public static async Task<FaultBench> StartAsync(MockFault fault, TimeProvider? time = null, MockProvider? provider = null) => new(await MockServer.StartAsync(
        new MockOptions { Faults = [fault], Time = time ?? TimeProvider.System, Providers = [provider ?? new MockProvider()] }));

    /// <summary>Returns the true bytes of a part, numbered from 1.</summary>
    public static byte[] Truth(int part)
    {
        var bytes = new byte[20_000];
        Release.Fill(0, (part - 1) * 20_000, bytes);
        return bytes;
    }

    public Task<RawClient> ConnectAsync() => RawClient.ConnectAsync(Mock.Port);

    public Task<RawClient> OpenAsync() => RawClient.OpenAsync(Mock.Port);

    /// <summary>Returns the body of the first article after the fault has changed it.</summary>
    public async Task<RawArticle> ReadFirstAsync()
    {
        await using var client = await OpenAsync();
        return RawArticle.Parse(await client.ReadBodyAsync(FirstId));
    }

    /// <summary>Fails unless the fault was counted this often.</summary>
    public void AssertCounted(FaultKind kind, long count = 1) =>
        Assert.Equal(new Dictionary<string, long> { [FaultNames.Of(kind)] = count }, Mock.Stats.Faults);

    public ValueTask DisposeAsync() => Mock.DisposeAsync();
}
