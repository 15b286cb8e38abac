using Sluice.Testing;
using Sluice.Usenet.Nntp;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

public sealed class ReceiveAheadStreamTests
{
    private static readonly int[] Payloads = [10, 0, 300, 1, 16_384, 255];

    [Theory]
    [InlineData(1)]
    [InlineData(4)]
    [InlineData(5)]
    [InlineData(6)]
    [InlineData(17)]
    [InlineData(1000)]
    [InlineData(int.MaxValue)]
    public async Task Read_gives_all_bytes_and_none_beyond_the_end_of_a_record(int received)
    {
        var sent = Payloads.SelectMany(Record).ToArray();
        await using var stream = new ReceiveAheadStream(new CutStream(sent, received, received), 32 * 1024);

        var ends = new HashSet<int>();
        var read = await ReadAsync(stream, 20_000, ends);

        Assert.Equal(sent, read);
        var border = 0;
        foreach (var payload in Payloads)
            Assert.Contains(border += 5 + payload, ends);
    }

    [Fact]
    public async Task Read_takes_whole_records_where_they_have_come()
    {
        await using var stream = new ReceiveAheadStream(new CutStream(Payloads.SelectMany(Record).ToArray(), int.MaxValue), 32 * 1024);
        var ends = new HashSet<int>();
        await ReadAsync(stream, 20_000, ends);
        Assert.Equal(Payloads.Length, ends.Count);
    }

    [Theory]
    [InlineData(2)]
    [InlineData(9)]
    public async Task Record_that_is_cut_off_is_passed_on_as_far_as_it_came(int kept)
    {
        byte[] sent = [.. Record(20), .. Record(30).Take(kept)];
        await using var stream = new ReceiveAheadStream(new CutStream(sent, 3, 3), 32 * 1024);
        Assert.Equal(sent, await ReadAsync(stream, 64, []));
    }

    [Fact]
    public async Task Record_larger_than_what_is_asked_for_comes_in_pieces()
    {
        var sent = Payloads.SelectMany(Record).ToArray();
        await using var stream = new ReceiveAheadStream(new CutStream(sent, int.MaxValue), 32 * 1024);
        Assert.Equal(sent, await ReadAsync(stream, 7, []));
    }

    private static IEnumerable<byte> Record(int payload) =>
        [23, 3, 3, (byte)(payload >> 8), (byte)payload, .. Enumerable.Range(0, payload).Select(static i => (byte)(7 * i))];

    private static async Task<byte[]> ReadAsync(ReceiveAheadStream stream, int size, HashSet<int> ends)
    {
        var taken = new List<byte>();
        var buffer = new byte[size];
        while (await stream.ReadAsync(buffer, TestContext.Current.CancellationToken) is > 0 and var read)
        {
            taken.AddRange(buffer[..read]);
            ends.Add(taken.Count);
        }

        return [.. taken];
    }
}
