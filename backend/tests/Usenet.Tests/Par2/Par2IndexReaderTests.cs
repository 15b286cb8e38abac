using Sluice.Usenet.Par2;
using Xunit;
using static Sluice.Usenet.Tests.Par2.Par2Samples;

namespace Sluice.Usenet.Tests.Par2;

public sealed class Par2IndexReaderTests
{
    private readonly List<(long Offset, int Count)> _reads = [];

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    public static TheoryData<string> Fixtures => [.. Names];

    [Theory]
    [MemberData(nameof(Fixtures))]
    public async Task Reading_in_pieces_equals_parsing_at_once(string name)
    {
        var file = Read(name);

        var index = await Reader(file).ReadAsync(Cancelled);

        Assert.Equivalent(Par2Index.Parse(file), index, strict: true);
    }

    [Fact]
    public async Task Recovery_slices_are_skipped_without_reading()
    {
        var slices = Enumerable.Range(0, 20).SelectMany(_ => Packet("PAR 2.0\0RecvSlic", new byte[1 << 20]));
        byte[] file = [.. Packet("PAR 2.0\0IFSC\0\0\0\0", new byte[600_000]), .. slices, .. MainPacket(1 << 20, 1), .. Description(1, "film.mkv")];

        var reader = Reader(file);
        var index = await reader.ReadAsync(Cancelled);

        Assert.Equal(("film.mkv", 20, true), (Assert.Single(index!.Files).Name, index.RecoverySlices, index.IsComplete));
        Assert.Equal(_reads.Sum(read => read.Count), reader.BytesRead);
        Assert.InRange(reader.BytesRead, 1, 23 * (16 << 10));
    }

    [Fact]
    public async Task No_byte_is_read_twice_or_past_the_end()
    {
        byte[] file = [.. MainPacket(4, [.. Enumerable.Range(0, 200).Select(i => (byte)i)]), .. new byte[30_000], .. Description(1, "film.mkv"), 0];

        await Reader(file).ReadAsync(Cancelled);

        var next = 0L;
        foreach (var (offset, count) in _reads)
        {
            Assert.True(offset >= next);
            next = offset + count;
        }

        Assert.Equal(file.Length, next);
    }

    [Fact]
    public async Task Endless_file_is_abandoned_after_16_MiB()
    {
        var reader = new Par2IndexReader(long.MaxValue, (offset, buffer, _) =>
        {
            buffer.Span.Clear();
            if (offset == 0)
                Description(1, "film.mkv").CopyTo(buffer);
            return ValueTask.CompletedTask;
        });

        var index = await reader.ReadAsync(Cancelled);

        Assert.Equal("film.mkv", Assert.Single(index!.Files).Name);
        Assert.InRange(reader.BytesRead, Par2IndexReader.MaxBytes - (16 << 10), Par2IndexReader.MaxBytes);
    }

    [Fact]
    public async Task File_of_overlapping_broken_packets_is_abandoned()
    {
        // Every packet claims the maximum length of a main packet and starts inside the previous one.
        var claim = Packet("PAR 2.0\0Main\0\0\0\0");
        BitConverter.GetBytes(1_000_000L).CopyTo(claim, 8);
        var reader = new Par2IndexReader(1L << 40, (offset, buffer, _) =>
        {
            for (var i = 0; i < buffer.Length; i++)
                buffer.Span[i] = claim[(int)((offset + i) % claim.Length)];
            return ValueTask.CompletedTask;
        });

        Assert.Null(await reader.ReadAsync(Cancelled));
        Assert.InRange(reader.BytesRead, 1_000_000, 1_100_000);
    }

    [Fact]
    public async Task Files_found_before_a_failed_read_are_kept()
    {
        byte[] file = [.. Description(1, "film.mkv"), .. Packet("PAR 2.0\0IFSC\0\0\0\0", new byte[40_000]), .. Description(2, "film.srt")];
        var reader = new Par2IndexReader(file.Length, (offset, buffer, _) =>
            offset > 0 ? ValueTask.FromException(new IOException("gone")) : Copy(file, offset, buffer));

        await Assert.ThrowsAsync<IOException>(() => reader.ReadAsync(Cancelled));

        Assert.Equal("film.mkv", Assert.Single(reader.Index!.Files).Name);
    }

    [Fact]
    public async Task Empty_file_has_no_index() => Assert.Null(await Reader([]).ReadAsync(Cancelled));

    private Par2IndexReader Reader(byte[] file) => new(file.Length, (offset, buffer, _) =>
    {
        _reads.Add((offset, buffer.Length));
        return Copy(file, offset, buffer);
    });

    private static ValueTask Copy(byte[] file, long offset, Memory<byte> buffer)
    {
        file.AsSpan((int)offset, buffer.Length).CopyTo(buffer.Span);
        return ValueTask.CompletedTask;
    }
}
