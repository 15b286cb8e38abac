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
    public void Free_blocks_that_are_not_needed_give_their_memory_back_while_others_come_and_go()
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
    public void Free_blocks_give_their_memory_back_while_nothing_comes_and_goes()
    {
        var steady = Rent(1);
        Return(Rent(1000));

        _time.Advance(TimeSpan.FromSeconds(30));
        Assert.InRange(_pool.Free, 65, 500);

        _time.Advance(TimeSpan.FromMinutes(5));
        Assert.Equal(64, _pool.Free + _pool.Rented);
        Return(steady);
    }

    [Fact]
    public void Beside_many_that_are_lent_no_free_one_stays()
    {
        var steady = Rent(1000);
        Return(Rent(50));
        Assert.Equal(50, _pool.Free);

        _time.Advance(TimeSpan.FromMinutes(5));
        Assert.Equal(0, _pool.Free);
        Return(steady);
    }

    [Fact]
    public void Memory_that_is_needed_again_every_few_seconds_stays()
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
    public void Blocks_that_are_needed_again_and_again_stay()
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
    public void Almost_nothing_stays_when_nobody_has_a_block()
    {
        Return(Rent(1000));
        Assert.Equal(64, _pool.Free);
    }

    [Fact]
    public void Blocks_whose_memory_was_given_back_are_lent_before_new_ones_are_made()
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
    public void Memory_that_is_given_back_is_gone_at_once()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Elsewhere it goes to the collector.");
        var bytes = BlockPages.Allocate(BlockPool.BlockSize);
        bytes.AsSpan().Fill(1);

        Assert.True(BlockPages.TryGiveBack(bytes));

        // Pages at the edges are shared with the neighbours, and stay.
        var emptied = bytes.Count(value => value == 0);
        Assert.InRange(emptied, BlockPool.BlockSize - (2 * Environment.SystemPageSize), BlockPool.BlockSize);
    }

    [Fact]
    public void A_block_that_is_given_back_twice_is_seen_even_when_it_is_on_loan_again()
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
    public void A_block_that_is_written_after_it_was_given_back_is_seen()
    {
        using var pool = Checked();
        var block = pool.Rent(this);
        pool.Return(block, this);
        block[12_345] = 1;
        Assert.Throws<InvalidOperationException>(() => pool.Rent(this));
    }

    [Fact]
    public void A_block_whose_memory_was_given_back_in_between_is_no_misuse()
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
