using Sluice.Testing;
using Sluice.Usenet.Streams.Memory;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

public sealed class BlockPoolTests : IDisposable
{
    private readonly ManualTimeProvider _time = new();
    private readonly BlockPool _pool;

    public BlockPoolTests() => _pool = new BlockPool(1L << 30, time: _time);

    [Fact]
    public void Unneeded_free_blocks_are_released_while_the_pool_is_busy()
    {
        var steady = Rent(1);
        Return(Rent(1000));
        Assert.Equal(1000, _pool.Free);
        for (var i = 0; i < 40_000; i++)
        {
            Return(Rent(100));
            _time.Advance(TimeSpan.FromMilliseconds(5));
        }

        Assert.InRange(_pool.Free, 100, 105);
        Return(steady);
    }

    [Fact]
    public void Unneeded_free_blocks_are_released_within_10_seconds()
    {
        var steady = Rent(1);
        Return(Rent(1000));

        _time.Advance(TimeSpan.FromSeconds(10));

        Assert.Equal(64, _pool.Free + _pool.Rented);
        Return(steady);
    }

    [Fact]
    public void No_free_block_is_kept_while_many_are_rented()
    {
        var steady = Rent(1000);
        Return(Rent(50));
        Assert.Equal(50, _pool.Free);

        _time.Advance(TimeSpan.FromMinutes(5));
        Assert.Equal(0, _pool.Free);
        Return(steady);
    }

    [Fact]
    public void Blocks_needed_every_few_seconds_are_kept()
    {
        var steady = Rent(1);
        Return(Rent(1000));
        for (var i = 0; i < 60; i++)
        {
            _time.Advance(TimeSpan.FromSeconds(5));
            Return(Rent(1000));
        }

        Assert.Equal(1000, _pool.Free);
        Return(steady);
    }

    [Fact]
    public void Blocks_needed_repeatedly_are_reused()
    {
        var steady = Rent(1);
        var first = Rent(500);
        var known = first.ToHashSet();
        Return(first);
        for (var i = 0; i < 50; i++)
        {
            var again = Rent(500);
            Assert.All(again, block => Assert.Contains(block, known));
            Return(again);
        }

        Return(steady);
    }

    [Fact]
    public void Only_64_free_blocks_are_kept_when_none_is_rented()
    {
        Return(Rent(1000));
        Assert.Equal(64, _pool.Free);
    }

    [Fact]
    public void Released_blocks_are_reused_before_new_ones_are_allocated()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Elsewhere they go to the collector.");
        var first = Rent(1000);
        var known = first.ToHashSet();
        Return(first);

        var again = Rent(1000);

        Assert.All(again, block => Assert.Contains(block, known));
        Return(again);
    }

    [Fact]
    public void Released_pages_read_as_zero_at_once()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Elsewhere it goes to the collector.");
        var bytes = BlockPages.Allocate(BlockPool.BlockSize);
        bytes.AsSpan().Fill(1);

        Assert.True(BlockPages.TryGiveBack(bytes));

        // Pages at the edges also hold neighboring memory, so they are not emptied.
        var emptied = bytes.Count(value => value == 0);
        Assert.InRange(emptied, BlockPool.BlockSize - (2 * Environment.SystemPageSize), BlockPool.BlockSize);
    }

    [Fact]
    public void Double_return_is_detected_even_after_a_new_rent()
    {
        var (first, second) = (new object(), new object());
        using var pool = Checked();
        var block = pool.Rent(first);
        pool.Return(block, first);
        Assert.Throws<InvalidOperationException>(() => pool.Return(block, first));
        Assert.Same(block, pool.Rent(second));
        Assert.Throws<InvalidOperationException>(() => pool.Return(block, first));
        Assert.Throws<InvalidOperationException>(() => pool.Verify(block, first));
        pool.Return(block, second);
    }

    [Fact]
    public void Write_after_return_is_detected()
    {
        using var pool = Checked();
        var block = pool.Rent(this);
        pool.Return(block, this);
        block[12_345] = 1;
        Assert.Throws<InvalidOperationException>(() => pool.Rent(this));
    }

    [Fact]
    public void Block_released_while_free_is_not_reported_as_misuse()
    {
        using var pool = Checked();
        var blocks = Enumerable.Range(0, 200).Select(_ => pool.Rent(this)).ToArray();
        foreach (var block in blocks)
            pool.Return(block, this);
        Assert.Equal(64, pool.Free);

        blocks = [.. Enumerable.Range(0, 200).Select(_ => pool.Rent(this))];

        foreach (var block in blocks)
            pool.Verify(block, this);
    }

    public void Dispose() => _pool.Dispose();

    private static BlockPool Checked() => new(1L << 30, misused: static found => throw new InvalidOperationException(found));

    private byte[][] Rent(int count) => [.. Enumerable.Range(0, count).Select(_ => _pool.Rent(this))];

    private void Return(byte[][] blocks)
    {
        foreach (var block in blocks)
            _pool.Return(block, this);
    }
}
