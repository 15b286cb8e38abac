using Sluice.Usenet.Media;
using Sluice.Usenet.Probing;
using Xunit;

namespace Sluice.Usenet.Tests.Probing;

public sealed class NameJudgeTests
{
    [Theory]
    [InlineData("book.epub", true)]
    [InlineData("Comic.01.CBR", true)]
    [InlineData("a/b.cbz", true)]
    [InlineData("book.kepub", true)]
    [InlineData("x.cb7", true)]
    [InlineData("x.cbt", true)]
    [InlineData("x.docx", true)]
    [InlineData("x.jar", true)]
    [InlineData("x.apk", true)]
    [InlineData("x.zip", false)]
    [InlineData("epub", false)]
    [InlineData("x.epub.rar", false)]
    [InlineData(null, false)]
    public void Document_archives_are_published_as_plain_files(string? name, bool isPlain) => Assert.Equal(isPlain, NameJudge.IsPlain(name));

    [Theory]
    [InlineData("BDMV/index.bdmv", true)]
    [InlineData("Film/bdmv/STREAM/1.m2ts", true)]
    [InlineData("VIDEO_TS/x", true)]
    [InlineData("CERTIFICATE/id.bdmv", true)]
    [InlineData("VTS_01_0.IFO", true)]
    [InlineData("a/x.bup", true)]
    [InlineData("BDMV", false)]
    [InlineData("BDMV.mkv", false)]
    [InlineData("xBDMV/a.mkv", false)]
    [InlineData("film.vob", false)]
    public void Disc_parts_are_recognized_by_their_folders(string path, bool isPart) => Assert.Equal(isPart, NameJudge.IsDiscPart(path));

    [Theory]
    [InlineData("film.mkv", MediaKind.Unknown, MediaCategory.Video)]
    [InlineData("film.mkv", MediaKind.Jpeg, MediaCategory.Other)]
    [InlineData("film", MediaKind.Matroska, MediaCategory.Video)]
    [InlineData("book.epub", MediaKind.Zip, MediaCategory.Other)]
    [InlineData("a.part1.rar", MediaKind.Unknown, MediaCategory.Archive)]
    [InlineData("x.ape", MediaKind.Unknown, MediaCategory.Audio)]
    [InlineData("readme", MediaKind.Unknown, MediaCategory.Other)]
    public void Name_decides_the_category_if_content_is_ambiguous(string name, MediaKind kind, MediaCategory category) =>
        Assert.Equal(category, NameJudge.CategoryOf(name, kind));
}
