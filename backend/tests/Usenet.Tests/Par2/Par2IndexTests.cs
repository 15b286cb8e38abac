using System.Text;
using Sluice.Usenet.Par2;
using Xunit;
using static Sluice.Usenet.Tests.Par2.Par2Samples;

namespace Sluice.Usenet.Tests.Par2;

public sealed class Par2IndexTests
{
    public static TheoryData<string, int, int, string[]> Sets => new()
    {
        { "set.par2", 4096, 0, ["Zoë – notes.nfo:13", "film.en.srt:292", "film.mkv:28893"] },
        { "set.vol0+2.par2", 4096, 2, ["Zoë – notes.nfo:13", "film.en.srt:292", "film.mkv:28893"] },
        { "set.vol2+4.par2", 4096, 4, ["Zoë – notes.nfo:13", "film.en.srt:292", "film.mkv:28893"] },
        { "tree.par2", 4096, 0, ["Season 1/episode.mkv:43893", "film.mkv:28893"] },
        { "zeros.par2", 4096, 0, ["zero-1.bin:20000", "zero-2.bin:20000"] },
        {
            "posted-rar5.par2", 2696, 0,
            [
                "rar5.part1.rar:1048576", "rar5.part2.rar:1048576", "rar5.part3.rar:1048576", "rar5.part4.rar:1048576",
                "rar5.part5.rar:1048576", "rar5.part6.rar:136395",
            ]
        },
        {
            "posted-obfuscated.par2", 2696, 0,
            [
                "obfuscated.part1.rar:1048576", "obfuscated.part2.rar:1048576", "obfuscated.part3.rar:1048576", "obfuscated.part4.rar:1048576",
                "obfuscated.part5.rar:1048576", "obfuscated.part6.rar:136395",
            ]
        },
    };

    [Theory]
    [MemberData(nameof(Sets))]
    public void PAR2_sets_from_other_programs_are_read(string name, int sliceSize, int recovery, string[] files)
    {
        var index = Par2Index.Parse(Read(name));

        Assert.NotNull(index);
        Assert.Equal((sliceSize, recovery, true), ((int)index.SliceSize, index.RecoverySlices, index.IsComplete));
        Assert.Equal(files, index.Files.Select(file => $"{file.Name}:{file.Length}").Order(StringComparer.Ordinal));
        Assert.Equal(Par2Reader.SetIdOf(Read(name)), index.SetId);
    }

    [Theory]
    [InlineData("set.par2")]
    [InlineData("tree.par2")]
    public void Truncated_index_has_fewer_files_and_no_wrong_ones(string name)
    {
        var whole = Read(name);
        var all = Par2Index.Parse(whole)!.Files;
        var counts = new List<int>();
        for (var length = 0; length <= whole.Length; length++)
        {
            var files = Par2Index.Parse(whole.AsSpan(0, length))?.Files ?? [];
            Assert.Subset(all.ToHashSet(), files.ToHashSet());
            counts.Add(files.Count);
        }

        Assert.Equal(counts.Order(), counts);
        Assert.Equal(Enumerable.Range(0, all.Count + 1), counts.Distinct());
    }

    [Fact]
    public void Damaged_byte_costs_at_most_one_packet()
    {
        var whole = Read("set.par2");
        var all = Par2Index.Parse(whole)!.Files.ToHashSet();
        for (var at = 0; at < whole.Length; at++)
        {
            var damaged = (byte[])whole.Clone();
            damaged[at] ^= 0x55;
            var files = Par2Index.Parse(damaged)!.Files;

            // A packet with a damaged type is skipped.
            Assert.Subset(all, files.ToHashSet());
            Assert.InRange(files.Count, all.Count - 1, all.Count);
        }
    }

    [Fact]
    public void Damaged_packet_is_recovered_from_its_repetition()
    {
        var broken = Description(1, "film.mkv");
        broken[20] ^= 1;
        byte[] file = [.. broken, .. MainPacket(4, 1, 2), .. Description(2, "film.srt"), 1, 2, 3, .. Description(1, "film.mkv"), .. Description(2, "film.srt")];

        var index = Par2Index.Parse(file)!;

        Assert.True(index.IsComplete);
        Assert.Equal(["film.mkv", "film.srt"], index.Files.Select(one => one.Name));
    }

    [Fact]
    public void Files_follow_the_order_of_the_main_packet()
    {
        byte[] file = [.. Description(3, "c"), .. Description(1, "a"), .. Description(9, "beside"), .. MainPacket(4, 1, 2, 3), .. Description(2, "b")];

        var index = Par2Index.Parse(file)!;

        Assert.Equal(["a", "b", "c", "beside"], index.Files.Select(one => one.Name));
        Assert.True(index.IsComplete);
        Assert.False(Par2Index.Parse(file.AsSpan(0, file.Length - 4))!.IsComplete);
    }

    [Fact]
    public void Unicode_name_overrides_the_description_name()
    {
        byte[] file = [.. UnicodeName(1, "Zoë.mkv"), .. Description(1, "Zo_.mkv"), .. Description(2, "b.mkv")];

        Assert.Equal(["Zoë.mkv", "b.mkv"], Par2Index.Parse(file)!.Files.Select(one => one.Name));
    }

    [Fact]
    public void Non_UTF8_name_is_read_as_Latin1() =>
        Assert.Equal("Zoë.mkv", Assert.Single(Par2Index.Parse(Description(1, Encoding.Latin1.GetBytes("Zoë.mkv")))!.Files).Name);

    [Fact]
    public void Packets_of_another_set_are_ignored()
    {
        var foreign = Read("set.par2");

        Assert.Equal(["a"], Par2Index.Parse([.. Description(1, "a"), .. foreign])!.Files.Select(one => one.Name));
    }

    [Fact]
    public void Malformed_or_irrelevant_packets_are_ignored()
    {
        byte[][] packets =
        [
            Description(1, ""),
            Description(1, "a", length: -1),
            Packet("PAR 2.0\0FileDesc", Id(1)),
            Packet("PAR 2.0\0Main\0\0\0\0", BitConverter.GetBytes(4L)),
            Packet("PAR 2.0\0Main\0\0\0\0", BitConverter.GetBytes(5L), BitConverter.GetBytes(0)),
            Packet("PAR 2.0\0Main\0\0\0\0", BitConverter.GetBytes(4L), BitConverter.GetBytes(2), Id(1)),
            Packet("PAR 2.0\0Main\0\0\0\0", BitConverter.GetBytes(4L), BitConverter.GetBytes(uint.MaxValue), Id(1)),
            Packet("PAR 2.0\0UniFileN", Id(1)),
            Packet("PAR 2.0\0Creator\0", "me.."u8.ToArray()),
            Packet("PAR 2.0\0IFSC\0\0\0\0", Id(1), new byte[2000]),
        ];

        Assert.Null(Par2Index.Parse(packets.SelectMany(packet => packet).ToArray()));
        Assert.All(packets, packet => Assert.Null(Par2Index.Parse(packet)));
    }

    [Fact]
    public void File_count_is_limited()
    {
        var packets = Enumerable.Range(0, Par2Reader.MaxFiles + 10)
            .SelectMany(i => Packet("PAR 2.0\0FileDesc", [.. BitConverter.GetBytes((long)i), .. new byte[8]], Id(1), Id(2), BitConverter.GetBytes(5L), "name"u8.ToArray()))
            .ToArray();

        Assert.Equal(Par2Reader.MaxFiles, Par2Index.Parse(packets)!.Files.Count);
    }
}
