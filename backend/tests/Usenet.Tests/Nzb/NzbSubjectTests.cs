using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nzb;

public sealed class NzbSubjectTests
{
    [Theory]
    [InlineData("\"film.mkv\" yEnc (1/16) 5378270", "film.mkv", 16, 0, 0)]
    [InlineData("[01/10] - \"rar5.part1.rar\" yEnc (1/3) 1048576", "rar5.part1.rar", 3, 1, 10)]
    [InlineData("\"A title\" [2/3] - \"a b.c.7z.001\" yEnc (07/074)", "a b.c.7z.001", 74, 2, 3)]
    [InlineData("\"movie.mkv\" - \"posted by me\" (1/2)", "movie.mkv", 2, 0, 0)]
    [InlineData("[1/2] \"1a17f88b4c691c204447e20e3e05767d\" yEnc (1/1)", "1a17f88b4c691c204447e20e3e05767d", 1, 1, 2)]
    [InlineData("Show.S01E02.1080p.DDP5.1.x264-GRP.mkv yEnc (1/1234)", "Show.S01E02.1080p.DDP5.1.x264-GRP.mkv", 1234, 0, 0)]
    [InlineData("(who) [x] Show S01E02.mkv yEnc (1/12)", "S01E02.mkv", 12, 0, 0)]
    [InlineData("[PRiVATE]-[#a.b.c@efnet]-[ abc.r00 ] (1/5)", "abc.r00", 5, 0, 0)]
    [InlineData("&quot;x.mkv&quot; (1/2)", "x.mkv", 2, 0, 0)]
    [InlineData("http://www.example.com me@example.com (1/2)", null, 2, 0, 0)]
    [InlineData("d3adb33f (3/9)", null, 9, 0, 0)]
    [InlineData("\"unclosed.mkv (1/2)", "unclosed.mkv", 2, 0, 0)]
    [InlineData("\"\" (a/b) (1/99999999999)", null, 0, 0, 0)]
    [InlineData("", null, 0, 0, 0)]
    [InlineData("((((/)/)[[[/]1/2]", null, 0, 0, 0)]
    public void Subject_gives_file_name_and_counters(string subject, string? name, int segments, int fileNumber, int files) =>
        Assert.Equal(new NzbSubject(name, segments, fileNumber, files), NzbSubject.Parse(subject));
}
