using Sluice.Server.Queue.Steps;
using Sluice.Usenet.Archives;
using Sluice.Usenet.Media;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Probing;
using Sluice.Usenet.Streams.Maps;
using Xunit;

namespace Sluice.Server.Tests.Queue;

public sealed class MapVerdictTests
{
    private const long Film = 1_000_000;

    [Theory]
    [InlineData("film.mkv", null, "film.srt", "m3", null)]
    [InlineData("film.mkv", "m3", "film.srt", null, "CompressedArchive")]
    [InlineData("film.mkv", null, "Sample/film-sample.mkv", "m3", null)]
    [InlineData("film.mkv", null, "extra.mkv", "m3", "CompressedArchive")]
    [InlineData("disc.iso", "m3", "disc.txt", null, "CompressedArchive")]
    [InlineData("program.exe", "m3", "readme.txt", null, "CompressedArchive")]
    public void Compressed_entry_fails_an_item_only_if_it_is_main_content(
        string large, string? largeMethod, string small, string? smallMethod, string? reason) =>
        Assert.Equal(reason, Judge([File(large, Film, largeMethod), File(small, Film / 50, smallMethod)]));

    [Theory]
    [InlineData(ArchiveFault.Incomplete, "IncompleteSet")]
    [InlineData(ArchiveFault.Broken, "BrokenArchive")]
    [InlineData(ArchiveFault.NoPassword, "EncryptedNoPassword")]
    [InlineData(ArchiveFault.WrongPassword, "WrongPassword")]
    [InlineData(ArchiveFault.Unsupported, "UnsupportedArchive")]
    [InlineData(ArchiveFault.Gone, "MissingArticles")]
    [InlineData(ArchiveFault.Damaged, "CorruptArticles")]
    public void Unstreamable_set_fails_the_item_with_its_reason(ArchiveFault fault, string reason)
    {
        Assert.Equal(reason, Judge([], Set(fault, Film)));
        Assert.Equal(reason, Judge([File("other.mkv", Film)], Set(fault, Film / 2)));
        Assert.Null(Judge([File("film.mkv", Film)], Set(fault, Film / 6)));
    }

    private static RefusedSet Set(ArchiveFault fault, long bytes) => new(fault, ArchiveFormat.Rar5, "film.rar", "x", 1, 2, bytes);

    private static MappedFile File(string path, long length, string? method = null) =>
        new() { InnerPath = path, NamedBy = 0, Length = length, Extents = [], Kind = MediaKind.Unknown, Method = method };

    private static string? Judge(IReadOnlyList<MappedFile> files, params RefusedSet[] refused)
    {
        FileHead head = new() { Members = [0], Subject = NzbSubject.Parse("film.rar"), Ids = new NoIds(), State = HeadState.Found };
        return MapVerdict.Judge(new ReleaseMap(files, new SegmentMap?[1], refused, [], []), [head], providers: 1)?.Reason.ToString();
    }

    private sealed class NoIds : ISegmentIds
    {
        public int Count => 1;

        public ValueTask<SegmentIds> GetAsync(int index, CancellationToken cancellationToken) => new(SegmentIds.None);
    }
}
