using System.Security.Cryptography;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Streams.Reading;
using Xunit;

namespace Sluice.Usenet.Tests.Streams.Reading;

public sealed class AesDecryptStreamTests
{
    private const int Length = 300_001;

    private readonly byte[] _plain = RandomNumbers(Length, 1);
    private readonly StreamCipher _cipher = new(RandomNumbers(32, 2), RandomNumbers(16, 3));

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(0)]
    [InlineData(5)]
    [InlineData(16)]
    [InlineData(31)]
    public async Task Random_seeks_and_reads_give_the_plain_bytes(int skip)
    {
        var cipher = _cipher with { Skip = skip };
        await using var stream = new AesDecryptStream(new MemoryCipherText(Encrypt(skip)), cipher, Length, 0, Length);
        var random = new Random(skip);
        var buffer = new byte[70_000];
        for (var i = 0; i < 400; i++)
        {
            stream.Position = random.Next(10) == 0 ? 0 : random.Next(Length);
            for (var reads = random.Next(4); reads >= 0; reads--)
            {
                var at = (int)stream.Position;
                var count = await stream.ReadAsync(buffer.AsMemory(0, random.Next(1, random.Next(2) == 0 ? 40 : buffer.Length)), Token);
                Assert.True(buffer.AsSpan(0, count).SequenceEqual(_plain.AsSpan(at, count)), $"{count} bytes at {at} are wrong");
                Assert.Equal(at + count, stream.Position);
                Assert.True(count > 0 || at == Length);
            }
        }
    }

    [Fact]
    public async Task Lent_bytes_stay_unchanged_while_the_stream_advances()
    {
        await using var stream = new AesDecryptStream(new MemoryCipherText(Encrypt(0)), _cipher, Length, 0, Length);
        var loans = new List<(long At, BlockLoan Loan)>();
        while (stream.Position < Length)
        {
            var loan = new BlockLoan();
            loans.Add((stream.Position, loan));
            Assert.True(await stream.LendAsync(loan, 50_000, Token) > 0);
        }

        foreach (var (at, loan) in loans)
        {
            var lent = loan.Blocks.SelectMany(block => block).ToArray();
            Assert.True(lent.AsSpan().SequenceEqual(_plain.AsSpan((int)at, lent.Length)), $"what was lent at {at} has changed");
            loan.Return();
        }
    }

    [Fact]
    public async Task Canceled_read_can_be_repeated()
    {
        var text = new MemoryCipherText(Encrypt(0)) { CancelsEach = 3 };
        await using var stream = new AesDecryptStream(text, _cipher, Length, 0, Length);
        var read = new MemoryStream();
        var buffer = new byte[5000];
        while (stream.Position < Length)
        {
            try
            {
                read.Write(buffer, 0, await stream.ReadAsync(buffer, Token));
            }
            catch (OperationCanceledException)
            {
                Assert.True(text.Reads % 3 == 0);
            }
        }

        Assert.True(read.ToArray().AsSpan().SequenceEqual(_plain));
    }

    [Fact]
    public async Task Cipher_range_adds_only_the_preceding_block()
    {
        var (from, to) = AesDecryptStream.CipherRange(_cipher, 1000, 2000);
        await using var stream = new AesDecryptStream(new MemoryCipherText(Encrypt(0)), _cipher, Length, 1000, 2000);

        Assert.Equal((976L, 2000L), (from, to));
        Assert.Equal((0L, 16L), AesDecryptStream.CipherRange(_cipher, 3, 4));
        Assert.Equal(1000, stream.Position);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(100_000)]
    public async Task Seek_costs_at_most_one_extra_article(int offset)
    {
        const int ArticleSize = 20_000;
        await using var host = await EngineHost.StartAsync(EngineHost.Film(30, ArticleSize));
        var file = host.File();
        var before = host.Mock.Stats.CommandCount("BODY");

        await using (var stream = host.Engine.Open([FileExtent.Whole(file)], _cipher, file.Map.Length / 16 * 16, OperationLane.Playback, offset, offset + 500))
            await stream.ReadExactlyAsync(new byte[500], Token);

        Assert.InRange(host.Mock.Stats.CommandCount("BODY") - before, 1, 2);
    }

    private byte[] Encrypt(int skip)
    {
        using var aes = Aes.Create();
        aes.Key = _cipher.Key.ToArray();
        byte[] padded = [.. RandomNumbers(skip, 4), .. _plain];
        Array.Resize(ref padded, (int)StreamCipher.Padded(padded.Length));
        return aes.EncryptCbc(padded, _cipher.Iv.Span, PaddingMode.None);
    }

    private static byte[] RandomNumbers(int count, int seed)
    {
        var bytes = new byte[count];
        new Random(seed).NextBytes(bytes);
        return bytes;
    }

    /// <summary>Ciphertext that arrives in pieces of odd lengths.</summary>
    private sealed class MemoryCipherText(byte[] bytes) : ReadOnlyStream
    {
        private readonly Random _random = new(9);

        public int CancelsEach { get; init; } = int.MaxValue;

        public int Reads { get; private set; }

        public override long Length => bytes.Length;

        public override long Position { get; set; }

        public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
        {
            if (++Reads % CancelsEach == 0)
                throw new OperationCanceledException();
            var count = (int)Math.Min(Math.Min(buffer.Length, bytes.Length - Position), _random.Next(1, 30_000));
            bytes.AsMemory((int)Position, count).CopyTo(buffer);
            Position += count;
            return ValueTask.FromResult(count);
        }

        public override ValueTask<int> LendAsync(BlockLoan loan, int most, CancellationToken cancellationToken) => throw new NotSupportedException();

        protected override ValueTask CloseAsync() => ValueTask.CompletedTask;
    }
}
