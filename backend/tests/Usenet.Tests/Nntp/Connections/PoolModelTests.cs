using Sluice.Usenet.Nntp;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>
/// Interleavings of whole pools (F15): they dial, are late, keep alive, close and expire, and their limits rise and fall. Each run of the
/// tests plays some seconds of these, and a hundred thousand of the scheduler alone.
/// </summary>
public sealed class PoolModelTests
{
    private const int Steps = 40;

    [Fact]
    public void F15_20000_pool_interleavings_lose_no_wake_up_or_resource() => Play(20_000);

    [Fact]
    [Trait("Category", "Long")]
    public void F15_100000_pool_interleavings_lose_no_wake_up_or_resource() => Play(100_000);

    private static void Play(int interleavings)
    {
        using var socket = new PoolModel.LeftSocket();
        using var meter = new NntpMeter(TimeProvider.System);
        for (var seed = 0; seed < interleavings; seed++)
        {
            try
            {
                using var model = new PoolModel(new Random(seed), socket, meter);
                model.Run(Steps);
            }
            catch (Exception failure)
            {
                throw new InvalidOperationException($"Seed {seed}: {failure.Message}", failure);
            }
        }

        socket.Release();
    }
}
