using Sluice.Testing;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Tools.MockNntpServer.Layouts;
using Sluice.Usenet.Archives;
using Xunit;

namespace Sluice.Usenet.Tests.Archives;

/// <summary>A set that cannot be streamed gives a value with a reason, not an exception.</summary>
public sealed class RefusedSetTests
{
    [Theory]
    [InlineData(LayoutFormat.Rar5, 0)]
    [InlineData(LayoutFormat.Rar5, 5)]
    [InlineData(LayoutFormat.Rar5, 9)]
    [InlineData(LayoutFormat.Rar4, 0)]
    [InlineData(LayoutFormat.Rar4, 5)]
    [InlineData(LayoutFormat.Rar4, 9)]
    [InlineData(LayoutFormat.SevenZip, 5)]
    [InlineData(LayoutFormat.SevenZip, 9)]
    public async Task Set_missing_a_volume_is_incomplete(LayoutFormat format, int unposted)
    {
        await using var post = await MappedPost.MapAsync(Release(new ArchiveLayout { Format = format, Volumes = 10, Entries = [new("film.mkv", 600_000)], Unposted = [unposted] }));

        var refused = Assert.Single(post.Map.Refused);
        Assert.Equal((ArchiveFault.Incomplete, 9, 10), (refused.Fault, refused.Have, refused.Need));
        Assert.Empty(post.Map.Files);
    }

    [Fact]
    public async Task Unnamed_volumes_without_the_last_one_are_incomplete()
    {
        await using var post = await MappedPost.MapAsync(
            MockLayouts.Builder("lacks").Subjects(SubjectStyle.Shared).AddArchive(MockLayouts.Rar5(22) with { Naming = VolumeNaming.Random, Unposted = [21] }).Shuffle().Build());

        Assert.Equal(ArchiveFault.Incomplete, Assert.Single(post.Map.Refused).Fault);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(9)]
    public async Task Set_with_a_missing_head_article_is_refused_as_gone(int volume)
    {
        var release = Release(MockLayouts.Rar5(10));
        await using var post = await MappedPost.MapAsync(
            release, faults: [new MockFault { Kind = FaultKind.Missing, Articles = ArticleSelection.Article(release.MessageId(volume, 1)) }]);

        Assert.Equal(ArchiveFault.Gone, Assert.Single(post.Map.Refused).Fault);
    }

    [Theory]
    [InlineData("rar5-headers", ArchiveFault.NoPassword, "")]
    [InlineData("rar5-headers", ArchiveFault.WrongPassword, "wrong")]
    [InlineData("rar5-encrypted", ArchiveFault.NoPassword, "")]
    [InlineData("rar5-encrypted", ArchiveFault.WrongPassword, "wrong")]
    [InlineData("rar5-encrypted-unchecked", ArchiveFault.WrongPassword, "wrong")]
    [InlineData("rar4-headers", ArchiveFault.NoPassword, "")]
    [InlineData("rar4-headers", ArchiveFault.WrongPassword, "wrong")]
    [InlineData("rar4-encrypted", ArchiveFault.WrongPassword, "wrong")]
    [InlineData("7z-headers", ArchiveFault.NoPassword, "")]
    [InlineData("7z-headers", ArchiveFault.WrongPassword, "wrong")]
    [InlineData("7z-encrypted", ArchiveFault.NoPassword, "")]
    [InlineData("7z-encrypted", ArchiveFault.WrongPassword, "wrong")]
    public async Task Set_without_a_matching_password_is_refused(string layout, ArchiveFault fault, string password)
    {
        var known = MockLayouts.Make(layout);
        var release = new MockRelease(known.Title, known.Seed, known.Files) { Entries = known.Entries };

        await using var post = await MappedPost.MapAsync(release, passwords: password.Length == 0 ? [] : [password]);

        Assert.Equal(fault, Assert.Single(post.Map.Refused).Fault);
        Assert.Empty(post.Map.Files);
    }

    [Fact]
    public async Task Correct_password_is_found_among_wrong_ones()
    {
        await using var post = await MappedPost.MapAsync(MockLayouts.Make("rar5-encrypted-unchecked"), passwords: ["first", "second"]);

        await post.AssertReadsAsPostedAsync();
    }

    [Fact]
    public async Task Unverifiable_password_is_refused()
    {
        var layout = MockLayouts.Rar5(6) with { Entries = [new("film.xyz", 600_000)], Password = "open-sesame", PasswordCheck = PasswordCheck.None };
        await using var post = await MappedPost.MapAsync(MockLayouts.Builder("unknown").Password("open-sesame").AddArchive(layout).Build());

        var refused = Assert.Single(post.Map.Refused);
        Assert.Equal((ArchiveFault.Unsupported, "the password cannot be checked"), (refused.Fault, refused.Detail));
    }

    [Fact]
    public async Task Compressed_entry_is_listed_with_its_method()
    {
        await using var post = await MappedPost.MapAsync(Release(MockLayouts.Rar5(6) with { Entries = [new("film.mkv", 600_000) { IsCompressed = true }] }));

        Assert.NotNull(Assert.Single(post.Map.Files).Method);
    }

    [Fact]
    public async Task Comic_book_archive_is_published_as_a_plain_file()
    {
        var comic = new ArchiveLayout { Format = LayoutFormat.Zip, Entries = [new("page1.jpg", 50_000)] }.Make(3).Volumes[0].Bytes;
        await using var post = await MappedPost.MapAsync(MockLayouts.Builder("comic").AddFile("comic.cbz", comic).Build());

        Assert.Null(Assert.Single(post.Map.Files).InnerPath);
        await post.AssertReadsAsPostedAsync();
    }

    [Fact]
    public async Task Nested_archives_are_followed_three_deep_and_no_deeper()
    {
        var archive = (MockLayouts.Rar5(1) with { Stem = "a1" }).Make(1);
        var entries = archive.Entries;
        for (var depth = 2; depth <= 3; depth++)
            archive = new ArchiveLayout { Format = LayoutFormat.Rar5, Entries = archive.AsEntries(), Stem = $"a{depth}" }.Make((ulong)depth);
        await using (var post = await MappedPost.MapAsync(MockLayouts.Builder("three").AddArchive(archive, entries).Build()))
            await post.AssertReadsAsPostedAsync();

        archive = new ArchiveLayout { Format = LayoutFormat.Rar5, Entries = archive.AsEntries(), Stem = "a4" }.Make(4);
        await using (var post = await MappedPost.MapAsync(MockLayouts.Builder("four").AddArchive(archive, entries).Build()))
            Assert.Equal(ArchiveFault.Unsupported, Assert.Single(post.Map.Refused).Fault);
    }

    private static MockRelease Release(ArchiveLayout layout) => MockLayouts.Builder("refused").AddArchive(layout).Build();
}
