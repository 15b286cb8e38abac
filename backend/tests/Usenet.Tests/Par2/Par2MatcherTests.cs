using System.Buffers.Binary;
using Sluice.Usenet.Par2;
using Xunit;
using static Sluice.Usenet.Tests.Par2.Par2Samples;

namespace Sluice.Usenet.Tests.Par2;

public sealed class Par2MatcherTests
{
    private static readonly Par2Matcher Set = new([Par2Index.Parse(Read("set.par2"))!]);

    /// <summary>Volumes of a real post: length, MD5 of the first 16 KiB, and the name that they must match.</summary>
    [Theory]
    [InlineData(136_395, "f506aa35401bbbf0a44ef769daa6cbe4", "obfuscated.part6.rar")]
    [InlineData(1_048_576, "17700dd5b7a0b560a2109c6eaf8bd7cf", "obfuscated.part1.rar")]
    [InlineData(1_048_576, "3e0a46fc6bc9857a9b135f86d51f4a86", "obfuscated.part2.rar")]
    [InlineData(1_048_576, "3a083c8a4fe9b9622de0338964d0f8d6", "obfuscated.part3.rar")]
    [InlineData(1_048_576, "5a79b6d6875c907c8c727f46e0771a3a", "obfuscated.part4.rar")]
    [InlineData(1_048_576, "826c774008adc7b0b6d54725db6a19a1", "obfuscated.part5.rar")]
    [InlineData(1_048_576, "00000000000000000000000000000000", null)]
    [InlineData(900_000, "826c774008adc7b0b6d54725db6a19a1", null)]
    public void Real_obfuscated_volumes_are_matched_by_their_heads(long length, string md5, string? name)
    {
        var matcher = new Par2Matcher([Par2Index.Parse(Read("posted-obfuscated.par2"))!]);

        Assert.Equal(name, matcher.Find(BinaryPrimitives.ReadUInt128BigEndian(Convert.FromHexString(md5)), length)?.Name);
    }

    [Fact]
    public void Long_file_is_matched_by_its_first_16_KiB()
    {
        var film = Sequence(6000);

        Assert.Equal("film.mkv", Find(Set, film.AsSpan(0, 16 << 10), film.Length));
        Assert.Null(Par2Matcher.HeadOf(film.AsSpan(0, (16 << 10) - 1), film.Length));
    }

    [Fact]
    public void Short_file_is_matched_by_its_whole_content()
    {
        var subtitles = Sequence(100);

        Assert.Equal("film.en.srt", Find(Set, subtitles, subtitles.Length));
        Assert.Null(Par2Matcher.HeadOf(subtitles.AsSpan(1), subtitles.Length));
    }

    [Fact]
    public void File_in_pieces_is_matched_by_first_piece_and_total_length()
    {
        var film = Sequence(6000);
        int[] pieces = [20_000, 8893];

        Assert.Equal("film.mkv", Find(Set, film.AsSpan(0, pieces[0]), pieces.Sum()));
    }

    [Theory]
    [InlineData(28_893, true)]
    [InlineData(28_892, false)]
    [InlineData(30_413, true)]
    [InlineData(30_414, false)]
    public void Posted_file_may_be_up_to_5_percent_longer(int length, bool fits) =>
        Assert.Equal(fits ? "film.mkv" : null, Find(Set, Sequence(6000).AsSpan(0, 16 << 10), length));

    [Fact]
    public void Ambiguous_files_are_not_matched()
    {
        var matcher = new Par2Matcher([Par2Index.Parse(Read("zeros.par2"))!]);

        Assert.Null(Find(matcher, new byte[16 << 10], 20_000));
    }

    [Fact]
    public void Exact_length_wins_over_a_similar_length()
    {
        var head = new byte[16 << 10];
        var key = Par2Matcher.HeadOf(head, head.Length)!.Value;
        Par2Index Set(params Par2File[] files) => new() { SetId = 1, SliceSize = 4, Files = files, RecoverySlices = 0, IsComplete = true };
        var matcher = new Par2Matcher([Set(new Par2File(1, "a", 100_000, 1, key), new Par2File(2, "b", 98_000, 2, key)), Set(new Par2File(3, "a", 100_000, 1, key))]);

        Assert.Equal("a", Find(matcher, head, 100_000));
        Assert.Equal("b", Find(matcher, head, 98_000));
        Assert.Null(Find(matcher, head, 100_001));
    }

    [Fact]
    public void Empty_files_and_empty_matchers_give_no_match()
    {
        Assert.True(new Par2Matcher([]).IsEmpty);
        Assert.False(Set.IsEmpty);
        Assert.Null(Find(Set, [], 0));
        Assert.Null(Set.Find(null, 28_893));
    }

    private static string? Find(Par2Matcher matcher, ReadOnlySpan<byte> start, long length) =>
        matcher.Find(Par2Matcher.HeadOf(start, length), length)?.Name;
}
