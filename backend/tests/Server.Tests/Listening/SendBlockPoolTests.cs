using Sluice.Server.Listening;
using Xunit;

namespace Sluice.Server.Tests.Listening;

public sealed class SendBlockPoolTests
{
    [Fact]
    public void Block_returned_twice_is_reused_only_once()
    {
        using var pool = new SendBlockPool();
        var first = pool.Rent();
        first.Dispose();
        first.Dispose();
        Assert.Equal(1, pool.Free);

        using var second = pool.Rent(SendBlockPool.BlockBytes);
        using var third = pool.Rent();

        Assert.Equal(SendBlockPool.BlockBytes, second.Memory.Length);
        Assert.False(second.Memory.Span.Overlaps(third.Memory.Span));
        Assert.Throws<ObjectDisposedException>(() => first.Memory);
    }

    [Fact]
    public void Free_blocks_are_bounded()
    {
        using var pool = new SendBlockPool();

        foreach (var block in Enumerable.Range(0, 300).Select(_ => pool.Rent()).ToList())
            block.Dispose();

        Assert.Equal(256, pool.Free);
    }

    [Fact]
    public void Request_above_the_block_size_is_refused()
    {
        using var pool = new SendBlockPool();

        Assert.Throws<ArgumentOutOfRangeException>(() => pool.Rent(SendBlockPool.BlockBytes + 1));
    }
}
