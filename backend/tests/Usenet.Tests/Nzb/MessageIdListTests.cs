using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nzb;

public sealed class MessageIdListTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(1023)]
    [InlineData(1024)]
    [InlineData(1025)]
    [InlineData(20_000)]
    public async Task Every_id_is_read_back_in_any_order(int count)
    {
        using var list = await MessageIdList.OpenAsync(new MemoryStream(await PackAsync(count)), Token);

        Assert.Equal(count, list.Count);
        var random = new Random(1);
        var order = Enumerable.Range(0, count).ToArray();
        random.Shuffle(order);
        foreach (var index in order.Take(3000).Concat(order.Order().Take(10)))
            AssertSame(Ids(index), await list.GetAsync(index, Token));
    }

    [Fact]
    public async Task Slice_covers_one_file_and_rejects_other_indexes()
    {
        using var list = await MessageIdList.OpenAsync(new MemoryStream(await PackAsync(10_000)), Token);
        var slice = list.Slice(1020, 100);

        Assert.Equal(100, slice.Count);
        for (var i = 0; i < 100; i++)
            AssertSame(Ids(1020 + i), await slice.GetAsync(i, Token));
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(async () => await slice.GetAsync(100, Token));
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(async () => await slice.GetAsync(-1, Token));
        Assert.Throws<ArgumentOutOfRangeException>(() => list.Slice(9_901, 100));
        Assert.Throws<ArgumentOutOfRangeException>(() => list.Slice(-1, 1));
        Assert.Throws<ArgumentOutOfRangeException>(() => list.Slice(1, int.MaxValue));
    }

    [Fact]
    public async Task Concurrent_lookups_work_and_cached_frames_are_synchronous()
    {
        using var list = await MessageIdList.OpenAsync(new MemoryStream(await PackAsync(10_000)), Token);

        await Parallel.ForEachAsync(Enumerable.Range(0, 4000), Token, async (i, token) =>
        {
            var index = (int)((long)i * 7919 % 10_000);
            AssertSame(Ids(index), await list.GetAsync(index, token));
        });

        await list.GetAsync(5, Token);
        Assert.True(list.GetAsync(6, Token).AsTask().IsCompletedSuccessfully);
    }

    [Fact]
    public async Task Frame_cache_scales_with_the_number_of_readers()
    {
        var stored = new CountedStream(await PackAsync(10_000));
        using var list = await MessageIdList.OpenAsync(stored, Token);
        list.KeepFor(2);
        await ReadHereAndThereAsync(8);
        var reads = stored.Reads;

        await ReadHereAndThereAsync(8);
        Assert.Equal(reads, stored.Reads);

        // Only one reader is left, so half as many frames stay cached.
        list.KeepFor(1);
        await ReadHereAndThereAsync(8);
        Assert.Equal(reads + 8, stored.Reads);
        Assert.Throws<ArgumentOutOfRangeException>(() => list.KeepFor(0));

        async Task ReadHereAndThereAsync(int frames)
        {
            for (var frame = 0; frame < frames; frame++)
                AssertSame(Ids(frame * 1024), await list.GetAsync(frame * 1024, Token));
        }
    }

    [Fact]
    public async Task NZB_file_is_added_with_its_holes_and_fallbacks()
    {
        var nzb = NzbSource.Document(NzbSource.File("s", NzbSource.Segment(1, "a@x"), NzbSource.Segment(3, "c@x"), NzbSource.Segment(3, "c2@x")));
        var file = Assert.Single(await NzbSource.ReadAsync(nzb));
        var stored = new MemoryStream();
        var writer = new MessageIdListWriter(stored);

        Assert.Equal(0, await writer.AddAsync(file, Token));
        Assert.Equal(3, await writer.AddAsync(file, Token));
        await writer.CompleteAsync(Token);
        await Assert.ThrowsAsync<InvalidOperationException>(async () => await writer.AddAsync(SegmentIds.None, Token));

        using var list = await MessageIdList.OpenAsync(stored, Token);
        var slice = list.Slice(3, 3);
        for (var i = 0; i < 3; i++)
            AssertSame(file.Segments.ElementAt(i).Ids, await slice.GetAsync(i, Token));
    }

    [Fact]
    public async Task Packed_ids_take_at_most_40_bytes_each()
    {
        var packed = await PackAsync(20_000);

        Assert.InRange(packed.Length, 1, 20_000 * 40);
    }

    [Fact]
    public async Task Flipped_missing_or_extra_byte_is_detected()
    {
        var good = await PackAsync(300);
        for (var place = 0; place < good.Length; place++)
        {
            var damaged = (byte[])good.Clone();
            damaged[place] ^= 0x10;
            await Assert.ThrowsAsync<MessageIdListException>(() => ReadAllAsync(damaged));
        }

        for (var length = 0; length < good.Length; length += 7)
            await Assert.ThrowsAsync<MessageIdListException>(() => ReadAllAsync(good[..length]));
        await Assert.ThrowsAsync<MessageIdListException>(() => ReadAllAsync([.. good, 0]));
        await Assert.ThrowsAsync<MessageIdListException>(() => ReadAllAsync([0, .. good]));
    }

    [Fact]
    public async Task Damage_in_one_frame_leaves_the_others_readable()
    {
        var stored = await PackAsync(10_000);
        stored[10] ^= 1;
        using var list = await MessageIdList.OpenAsync(new MemoryStream(stored), Token);

        await Assert.ThrowsAsync<MessageIdListException>(async () => await list.GetAsync(0, Token));
        AssertSame(Ids(5000), await list.GetAsync(5000, Token));
    }

    private sealed class CountedStream(byte[] bytes) : MemoryStream(bytes)
    {
        public int Reads { get; private set; }

        public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
        {
            Reads++;
            return base.ReadAsync(buffer, cancellationToken);
        }
    }

    private static async Task ReadAllAsync(byte[] stored)
    {
        using var list = await MessageIdList.OpenAsync(new MemoryStream(stored), Token);
        for (var i = 0; i < list.Count; i++)
            await list.GetAsync(i, Token);
    }

    private static async Task<byte[]> PackAsync(int count)
    {
        var stored = new MemoryStream();
        var writer = new MessageIdListWriter(stored);
        for (var i = 0; i < count; i++)
            await writer.AddAsync(Ids(i), Token);
        Assert.Equal(count, writer.Count);
        await writer.CompleteAsync(Token);
        return stored.ToArray();
    }

    // Every seventh segment is a hole, every fifth has fallbacks, and one id has the maximum length.
    private static SegmentIds Ids(int index) =>
        index % 7 == 3
            ? SegmentIds.None
            : new SegmentIds(
                MessageId.Parse(index == 20 ? new string('x', MessageId.MaxLength) : $"QwErTy{index * 2654435761L:x12}-1795288940143@nyuu"),
                [.. Enumerable.Range(0, index % 5 == 0 ? 1 + index % 3 : 0).Select(n => MessageId.Parse($"fallback{n}-{index}@x"))]);

    private static void AssertSame(SegmentIds expected, SegmentIds actual)
    {
        Assert.Equal(expected.Primary, actual.Primary);
        Assert.Equal(expected.Fallbacks, actual.Fallbacks);
    }
}
