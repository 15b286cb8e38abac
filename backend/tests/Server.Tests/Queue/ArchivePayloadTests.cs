using Sluice.Server.Queue;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Server.Tests.Queue;

public sealed class ArchivePayloadTests
{
    [Theory]
    [InlineData("a.rar", "RAR")]
    [InlineData("a.part01.rar", "RAR")]
    [InlineData("a.R07", "RAR")]
    [InlineData("a.s00", "RAR")]
    [InlineData("a.7z", "7z")]
    [InlineData("a.7z.003", "7z")]
    [InlineData("a.zip", "zip")]
    [InlineData("a.z01", "zip")]
    [InlineData("a.zip.001", "zip")]
    [InlineData("a.tar.gz", "tar")]
    [InlineData("a.mkv.001", "Split")]
    [InlineData("a.mkv", null)]
    [InlineData("a.gz", null)]
    [InlineData("rar", null)]
    [InlineData(".rar", null)]
    [InlineData(null, null)]
    public void Name_tells_the_format(string? name, string? format) => Assert.Equal(format, ArchivePayload.FormatOf(name));

    [Theory]
    [InlineData("a.rar:10 a.r00:10 a.nfo:1", "RAR")]
    [InlineData("film.mkv:100 subs.rar:1", null)]
    [InlineData("a.part1.rar:5 a.part2.rar:5 a.part3.rar:5 sample.mkv:6", "RAR")]
    [InlineData("film.mkv.001:3 film.mkv.002:3", "Split")]
    [InlineData("film.001:3", null)]
    [InlineData("film.mkv:3", null)]
    public void Payload_is_packed_when_volumes_dominate(string files, string? format)
    {
        var entries = files.Split(' ').Select((file, i) =>
        {
            var (name, segments) = (file.Split(':')[0], int.Parse(file.Split(':')[1], System.Globalization.CultureInfo.InvariantCulture));
            return new PostedEntry(i, 0, segments, 0, NzbSubject.Parse($"\"{name}\" yEnc (1/1)"), []);
        });

        var refusal = ArchivePayload.RefuseByName([.. entries]);

        Assert.Equal(format, refusal?.Sentence.Split(' ')[0]);
    }
}
