using Sluice.Usenet.Streams.Memory;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

public sealed class SegmentBufferTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(65_535)]
    [InlineData(65_536)]
    [InlineData(65_537)]
    [InlineData(716_800)]
    public void Written_bytes_read_back_and_blocks_are_returned(int length)
    {
        using var pool = new BlockPool(1 << 20);
        var truth = new byte[length];
        new Random(length).NextBytes(truth);
        var buffer = new SegmentBuffer(pool, length);
        for (var at = 0; at < length;)
        {
            var span = buffer.GetSpan();
            var count = Math.Min(span.Length, Math.Min(40_000, length - at));
            truth.AsSpan(at, count).CopyTo(span);
            buffer.Advance(count);
            at += count;
        }

        var read = new byte[length];
        buffer.CopyTo(0, read);
        Assert.Equal(truth, read);
        Assert.Equal((length + 65_535) / 65_536, pool.Rented);

        buffer.Retain();
        buffer.Release();
        Assert.NotEqual(0, pool.Rented);
        buffer.Release();
        Assert.Equal(0, pool.Rented);
        Assert.Throws<InvalidOperationException>(buffer.Release);
        Assert.Throws<InvalidOperationException>(buffer.Retain);
    }

    [Fact]
    public void Overlong_article_takes_one_extra_block_and_keeps_the_data()
    {
        using var pool = new BlockPool(1 << 20);
        var buffer = new SegmentBuffer(pool, 100_000);
        for (var i = 0; i < 60; i++)
        {
            var span = buffer.GetSpan();
            span.Fill((byte)(i < 2 ? 1 : 2));
            buffer.Advance(span.Length);
        }

        Assert.Equal(3, pool.Rented);
        var read = new byte[131_072];
        buffer.CopyTo(0, read);
        Assert.Equal(-1, read.AsSpan().IndexOfAnyExcept((byte)1));
        buffer.Release();
        Assert.Equal(0, pool.Rented);
    }
}
