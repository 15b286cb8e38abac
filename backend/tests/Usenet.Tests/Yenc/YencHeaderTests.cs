using Sluice.Usenet.Yenc;
using Xunit;
using static Sluice.Usenet.Tests.Yenc.BadArticle;

namespace Sluice.Usenet.Tests.Yenc;

/// <summary>Header lines in every form that posters have used.</summary>
public sealed class YencHeaderTests
{
    [Fact]
    public void Part_without_a_ypart_line_has_no_range()
    {
        var run = Run(Begin + Lines + End);

        Assert.Equal(Data, run.Output);
        Assert.Equal(ArticleDefects.NoPartLine, run.Defects);
        Assert.Equal((null, null, 2), (run.Result.Header.Begin, run.Result.Header.End, run.Result.Header.Part));
    }

    [Fact]
    public void Ypart_line_sets_the_range_without_a_part_number()
    {
        var run = Run("=ybegin line=128 size=600 name=x\r\n" + PartLine + Lines + End);

        Assert.Equal(ArticleDefects.None, run.Defects);
        Assert.Equal((200L, 400L), (run.Result.Header.Begin, run.Result.Header.End));
    }

    [Theory]
    [InlineData("=ybegin part=2 total=3 line=128 size=600 name=film.mkv =ypart begin=201 end=400\r\n")]
    [InlineData("=ybegin  total=3\tPART=2   line=128 foo bar=baz SIZE=600\tname=  film.mkv \t\r\n=ypart   end=400 x=y\tbegin=201  \r\n")]
    [InlineData("=yBegin size=600 line=128 part=2 total=3 NAME=film.mkv\r\n=yPart BEGIN=201 END=400\r\n")]
    [InlineData("=ybegin part=2 part=9 total=3 line=128 size=600 size=1 name=film.mkv\r\n\r\n=yunknown x\r\n=ypart begin=201 begin=7 end=400\r\n")]
    public void Header_variants_parse_to_the_same_fields(string header)
    {
        var run = Run(header + Lines + End);

        Assert.Equal(ArticleDefects.None, run.Defects);
        Assert.Equal(Data, run.Output);
        Assert.Equal("film.mkv", run.Name);
        Assert.Equal((2, 3, 600L, 128), (run.Result.Header.Part, run.Result.Header.Total, run.Result.Header.FileSize, run.Result.Header.LineLength));
        Assert.Equal((200L, 400L), (run.Result.Header.Begin, run.Result.Header.End));
    }

    [Theory]
    [InlineData("begin=0 end=200")]
    [InlineData("begin=300 end=200")]
    [InlineData("begin=-5 end=200")]
    [InlineData("begin=1 end=-5")]
    [InlineData("begin=1 end=9223372036854775808")]
    [InlineData("begin=99999999999999999999 end=99999999999999999999")]
    [InlineData("begin=9223372036854775807 end=9223372036854775807")]
    [InlineData("begin=1 end=16777217")]
    [InlineData("begin=1")]
    [InlineData("begin= end=")]
    [InlineData("begin=1x end=2")]
    public void Impossible_range_is_flagged_and_dropped(string range)
    {
        var run = Run($"{Begin}=ypart {range}\r\n{Lines}{End}");

        Assert.Equal(ArticleDefects.BadRange, run.Defects);
        Assert.Equal((null, null), (run.Result.Header.Begin, run.Result.Header.End));
        Assert.Equal(Data, run.Output);
    }

    [Theory]
    [InlineData("0")]
    [InlineData("-1")]
    [InlineData("x")]
    [InlineData("9223372036854775808")]
    [InlineData("9223372036854775807")]
    public void Impossible_size_is_flagged_and_the_range_kept(string size)
    {
        var run = Run($"=ybegin part=2 total=3 line=128 size={size} name=x\r\n{PartLine}{Lines}{End}");

        Assert.Equal(ArticleDefects.BadRange, run.Defects);
        Assert.Equal((null, 200L, 400L), (run.Result.Header.FileSize, run.Result.Header.Begin, run.Result.Header.End));
    }

    [Fact]
    public void Wrong_total_size_and_name_leave_part_and_range_intact()
    {
        var run = Run($"=ybegin part=7 total=3 line=128 size=5 name=\r\n{PartLine}{Lines}{End}");

        Assert.Equal(ArticleDefects.None, run.Defects);
        Assert.Equal((7, 3, 5L, 200L, 400L, ""), (run.Result.Header.Part, run.Result.Header.Total, run.Result.Header.FileSize, run.Result.Header.Begin, run.Result.Header.End, run.Name));
    }

    [Fact]
    public void Overlong_keyword_line_is_flagged_and_the_data_decodes()
    {
        var name = new string('n', 100_000);
        var run = Run($"=ybegin part=2 total=3 line=128 size=600 name={name}\r\n{PartLine}{Lines}{End}", byteByByte: false);

        Assert.Equal(ArticleDefects.LineTooLong, run.Defects);
        Assert.Equal(Data, run.Output);
        Assert.InRange(run.Name.Length, 4000, ArticleDecoder.MaxLineLength);
    }

    [Theory]
    [InlineData("a name with  spaces.mkv", "a name with  spaces.mkv")]
    [InlineData("\"quoted\" size=1 begin=5.mkv", "\"quoted\" size=1 begin=5.mkv")]
    [InlineData("what =ypart is.mkv", "what =ypart is.mkv")]
    [InlineData("Gr\u00c3\u00b6\u00c3\u009fe.mkv", "Größe.mkv")]
    [InlineData("Gr\u00f6\u00dfe.mkv", "Größe.mkv")]
    public void Name_runs_to_the_end_of_its_line(string onWire, string expected)
    {
        var run = Run($"=ybegin part=2 total=3 line=128 size=600 name={onWire}\r\n{PartLine}{Lines}{End}");

        Assert.Equal((expected, 600L, ArticleDefects.None), (run.Name, run.Result.Header.FileSize, run.Defects));
    }
}
