using System.Globalization;
using System.Text;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nzb;

/// <summary>Measures the memory of the process, so nothing else may run beside it.</summary>
[CollectionDefinition(nameof(NzbMemoryTests), DisableParallelization = true)]
[Collection(nameof(NzbMemoryTests))]
public sealed class NzbMemoryTests
{
    private const long MiB = 1 << 20;

    [Fact]
    public async Task Large_nzb_is_read_and_packed_with_the_ids_of_one_file_in_memory()
    {
        // Some 30 MB of XML that nobody holds: it is written while it is read.
        await using var nzb = GeneratedNzb.Of(files: 60, segments: 5000);
        var before = GC.GetTotalMemory(forceFullCollection: true);
        var peak = 0L;
        var writer = new MessageIdListWriter(Stream.Null);
        await foreach (var file in NzbReader.ReadAsync(nzb, null, new NzbHead(), TestContext.Current.CancellationToken))
        {
            await writer.AddAsync(file, TestContext.Current.CancellationToken);
            peak = Math.Max(peak, GC.GetTotalMemory(forceFullCollection: true) - before);
        }

        Assert.Equal(300_000, writer.Count);
        Assert.InRange(nzb.Position, 25 * MiB, long.MaxValue);
        Assert.InRange(peak, 0, 8 * MiB);
    }

    [Theory]
    [InlineData("rising", 8)]
    [InlineData("shuffled", 16)]
    [InlineData("unnumbered", 16)]
    public async Task Large_nzb_of_one_file_is_read_and_packed_with_a_few_megabytes_of_its_ids_in_memory(string order, int most)
    {
        const int count = 300_000;
        var before = GC.GetTotalMemory(forceFullCollection: true);
        var (peak, calls) = (0L, 0);
        var scratch = new ScratchFile { OnRead = () => Look(order == "shuffled" ? 5000 : 50) };
        await using var nzb = GeneratedNzb.Of(Segments());
        var packed = new MessageIdListWriter(Stream.Null);
        await foreach (var file in NzbReader.ReadAsync(nzb, null, new NzbHead(), scratch.Make, TestContext.Current.CancellationToken))
        {
            await packed.AddAsync(file, TestContext.Current.CancellationToken);
            Look(1);
        }

        Assert.Equal((count, 0), (packed.Count, scratch.Open));
        TestContext.Current.TestOutputHelper?.WriteLine($"{order}: {peak >> 10} KiB");
        Assert.InRange(scratch.Made, 1, 2);
        Assert.InRange(peak, 0, most * MiB);

        IEnumerable<string> Segments()
        {
            // Each number once, for a step that has no divisor in common with their count.
            for (var i = 0; i < count; i++)
            {
                Look(5000);
                var number = order == "shuffled" ? 1 + (int)((i * 7919L) % count) : 1 + i;
                yield return GeneratedNzb.Segment(order == "unnumbered" ? null : number, $"x{number}");
            }
        }

        // Each so many calls; a look takes some milliseconds.
        void Look(int each)
        {
            if (++calls % each == 0)
                peak = Math.Max(peak, GC.GetTotalMemory(forceFullCollection: true) - before);
        }
    }

    [Theory]
    [InlineData("<nzb><file subject=\"", "sssssssssssssssssssssssssssssss")]
    [InlineData("<nzb><x><![CDATA[", "sssssssssssssssssssssssssssss<s")]
    public async Task Attribute_or_section_of_200_megabytes_is_refused_before_it_is_held(string start, string text)
    {
        await using var nzb = new RepeatedText(start, text, 200 * MiB);
        var before = GC.GetTotalMemory(forceFullCollection: true);

        await Assert.ThrowsAsync<NzbFormatException>(() => NzbSource.ReadAsync(nzb));

        Assert.InRange(nzb.Position, 0, MiB);
        Assert.InRange(GC.GetTotalMemory(forceFullCollection: false) - before, -64 * MiB, 16 * MiB);
    }

    private sealed class RepeatedText(string start, string text, long length) : Stream
    {
        private readonly byte[] _start = Encoding.ASCII.GetBytes(start);
        private readonly byte[] _text = Encoding.ASCII.GetBytes(text);
        private long _position;

        public override bool CanRead => true;

        public override bool CanSeek => false;

        public override bool CanWrite => false;

        public override long Length => length;

        public override long Position
        {
            get => _position;
            set => throw new NotSupportedException(value.ToString(CultureInfo.InvariantCulture));
        }

        public override int Read(byte[] buffer, int offset, int count)
        {
            for (var i = 0; i < count; i++, _position++)
            {
                if (_position == length)
                    return i;
                buffer[offset + i] = _position < _start.Length ? _start[_position] : _text[_position % _text.Length];
            }

            return count;
        }

        public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
        {
            var bytes = new byte[buffer.Length];
            var read = Read(bytes, 0, bytes.Length);
            bytes.AsMemory(0, read).CopyTo(buffer);
            return new ValueTask<int>(read);
        }

        public override void Flush() => throw new NotSupportedException();

        public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

        public override void SetLength(long value) => throw new NotSupportedException();

        public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();
    }
}
