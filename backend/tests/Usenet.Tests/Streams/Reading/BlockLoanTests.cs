using Sluice.Usenet.Nntp;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Memory;
using Sluice.Usenet.Streams.Proof;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>A stream lends the bytes that a read would copy, and the blocks stay unchanged until the loan is returned.</summary>
public sealed class BlockLoanTests
{
    private const int ArticleSize = 200_000;
    private const int Articles = 12;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(1)]
    [InlineData(1_000)]
    [InlineData(65_536)]
    [InlineData(150_001)]
    [InlineData(1 << 20)]
    public async Task Lent_bytes_match_the_file_and_never_span_two_segments(int most)
    {
        await using var host = await EngineHost.StartAsync(EngineHost.Film(Articles, ArticleSize));
        var from = most == 1 ? ArticleSize - 20 : 0;
        var length = most == 1 ? 40 : (int)host.Release.Files[0].Size;
        var loan = new BlockLoan();
        var read = new List<byte>();
        await using (var stream = host.Open(from, from + length))
        {
            for (int count; (count = await stream.LendAsync(loan, most, Token)) > 0;)
            {
                Assert.Equal(count, loan.Blocks.Sum(block => block.Count));
                Assert.Equal((from + read.Count) / ArticleSize, (from + read.Count + count - 1) / ArticleSize);
                foreach (var block in loan.Blocks)
                    read.AddRange(block);
                loan.Return();
                Assert.Empty(loan.Blocks);
            }
        }

        Assert.Equal(host.Truth(from, length), read);
        await host.AssertNothingIsLeftAsync(Token);
    }

    [Fact]
    public async Task Loan_stays_valid_after_its_stream_closes_and_others_read()
    {
        await using var host = await EngineHost.StartAsync(EngineHost.Film(Articles, ArticleSize), streams: new StreamOptions { CacheBytes = 0 });
        var loan = new BlockLoan();
        int count;
        await using (var stream = host.Open(3 * ArticleSize))
            count = await stream.LendAsync(loan, ArticleSize, Token);
        await using (var other = host.Engine.Open([FileExtent.Whole(host.File())], OperationLane.Playback))
            await other.CopyToAsync(Stream.Null, Token);

        Assert.Equal(host.Truth(3 * ArticleSize, count), loan.Blocks.SelectMany(block => block));
        loan.Return();
        await host.AssertNothingIsLeftAsync(Token);
    }

    [Fact]
    public async Task Loan_holds_only_its_own_blocks()
    {
        await using var host = await EngineHost.StartAsync(EngineHost.Film(1, 12 * BlockPool.BlockSize), streams: new StreamOptions { CacheBytes = 0 });
        var (first, second) = (new BlockLoan(), new BlockLoan());
        await using (var stream = host.Open())
        {
            await stream.ReadExactlyAsync(new byte[100_000], Token);
            await stream.LendAsync(first, 1000, Token);
            await stream.LendAsync(second, 1000, Token);
        }

        // Both loans refer to the same block.
        await Eventually.HoldsAsync(() => host.HeldBlocks == 1, () => $"{host.HeldBlocks} blocks", Token);
        Assert.Equal(host.Truth(100_000, 2000), first.Blocks.Concat(second.Blocks).SelectMany(block => block));
        first.Return();
        Assert.Equal(1, host.HeldBlocks);
        second.Return();
        await host.AssertNothingIsLeftAsync(Token);
    }
}
