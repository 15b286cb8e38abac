using Sluice.Usenet.Media;
using Sluice.Usenet.Probing;
using Xunit;
using static Sluice.Usenet.Probing.FilterOutcome;

namespace Sluice.Usenet.Tests.Probing;

public sealed class ReleaseFilterTests
{
    private static readonly FilterRules Rules = new() { Release = "Film.2019", DropsSamples = true, NeedsMedia = true };

    [Theory]
    [InlineData("film.nfo", "*.nfo", true)]
    [InlineData("FILM.NFO", "*.nfo", true)]
    [InlineData("a/film.nfo", "*.nfo", true)]
    [InlineData("film.nfo.txt", "*.nfo", false)]
    [InlineData("film.unpack.mkv", "*unpack.mkv", true)]
    [InlineData("xunpack.mkv", "*unpack.mkv", true)]
    [InlineData("a.b", "?.?", true)]
    [InlineData("aa.b", "?.?", false)]
    [InlineData("file[1].txt", "file[1].*", true)]
    [InlineData("Proof/x.jpg", "proof/*", true)]
    [InlineData("x/Proof/x.jpg", "proof/*", false)]
    [InlineData("film.mkv", "", false)]
    public void Blocklist_pattern_blocks_matching_paths(string path, string pattern, bool isBlocked) =>
        Assert.Equal(isBlocked ? Blocked : Published, Judge(Rules with { Blocklist = [pattern] }, new FilterFile(path, MediaKind.Unknown, 5)).Files[0]);

    [Fact]
    public void Blocklist_applies_to_the_posted_name_too()
    {
        var file = new FilterFile("Film.2019.mkv", MediaKind.Matroska, 5) { Original = "abc.unpack.mkv" };

        Assert.Equal([Blocked], Judge(Rules with { Blocklist = ["*.unpack.mkv"] }, file).Files);
    }

    [Theory]
    [InlineData("sample.mkv", true)]
    [InlineData("Samples/film.mkv", true)]
    [InlineData("film-SAMPLE.mkv", true)]
    [InlineData("film_sample_x.mkv", true)]
    [InlineData("film.samples.mkv", true)]
    [InlineData("resampled.mkv", false)]
    [InlineData("sampler.mkv", false)]
    [InlineData("samplesx.mkv", false)]
    [InlineData("free1sample.mkv", false)]
    [InlineData("example/sampled-sample.mkv", true)]
    public void Sample_is_matched_as_a_whole_word(string path, bool says) => Assert.Equal(says, ReleaseFilter.SaysSample(path));

    [Theory]
    [InlineData(199, Sample)]
    [InlineData(200, Published)]
    public void Sample_is_shorter_than_a_fifth_of_the_longest_video(long length, FilterOutcome outcome)
    {
        var verdict = Judge(Rules, Video("film.mkv", 1000), Video("sample/film.mkv", length));

        Assert.Equal([Published, outcome], verdict.Files);
        Assert.Equal(ReleaseLack.None, verdict.Lack);
    }

    [Fact]
    public void Samples_are_published_if_not_dropped() =>
        Assert.Equal([Published, Published], Judge(Rules with { DropsSamples = false }, Video("film.mkv", 1000), Video("sample.mkv", 1)).Files);

    [Fact]
    public void Word_sample_in_the_release_name_is_ignored()
    {
        var verdict = Judge(Rules with { Release = "The.Sample.2019" }, Video("The.Sample.2019.mkv", 1000), Video("The.Sample.2019.extra.mkv", 10));

        Assert.Equal([Published, Published], verdict.Files);
        Assert.Equal(ReleaseLack.None, verdict.Lack);
    }

    [Theory]
    [InlineData("sample/BDMV/STREAM/00002.m2ts")]
    [InlineData("sample/VIDEO_TS/VTS_02_1.VOB")]
    public void Disc_parts_are_not_samples(string path) =>
        Assert.Equal([Published, Published], Judge(Rules, Video("film.mkv", 1000), Video(path, 1)).Files);

    [Fact]
    public void Sample_next_to_a_disc_is_dropped() =>
        Assert.Equal([Published, Sample], Judge(Rules, Video("BDMV/STREAM/00001.m2ts", 1000), Video("sample.mkv", 10)).Files);

    [Fact]
    public void Pictures_and_songs_are_not_samples() =>
        Assert.Equal([Published, Published, Published], Judge(Rules, Video("film.mkv", 1000), new FilterFile("sample.jpg", MediaKind.Jpeg, 1), new FilterFile("sample.mp3", MediaKind.Mp3, 1)).Files);

    [Fact]
    public void Par2_and_empty_files_are_not_published()
    {
        FilterFile[] files = [Video("film.mkv", 1000), new("film.par2", MediaKind.Unknown, 5), new("x", MediaKind.Par2, 5), new("note.txt", MediaKind.Unknown, 0)];

        Assert.Equal([Published, FilterOutcome.Par2, FilterOutcome.Par2, Empty], Judge(Rules, files).Files);

        // A previewed file is published although the blocklist matches it.
        Assert.Equal([Published, Published, Published, Empty], Judge(Rules with { ShowsPar2 = true, Blocklist = ["*.par2"] }, files).Files);
    }

    [Theory]
    [InlineData("film.mkv", MediaKind.Unknown, ReleaseLack.None)]
    [InlineData("film", MediaKind.Matroska, ReleaseLack.None)]
    [InlineData("song.flac", MediaKind.Flac, ReleaseLack.None)]
    [InlineData("disc.iso", MediaKind.DiscImage, ReleaseLack.None)]
    [InlineData("disc.iso", MediaKind.Unknown, ReleaseLack.None)]
    [InlineData("BDMV/STREAM/00001.m2ts", MediaKind.TransportStream, ReleaseLack.None)]
    [InlineData("sample.mkv", MediaKind.Matroska, ReleaseLack.MoreThanSamples)]
    [InlineData("setup.exe", MediaKind.Unknown, ReleaseLack.Media)]
    [InlineData("book.epub", MediaKind.Zip, ReleaseLack.Media)]
    [InlineData("film.mkv", MediaKind.Jpeg, ReleaseLack.Media)]
    public void Release_needs_something_playable(string path, MediaKind kind, ReleaseLack lack)
    {
        var verdict = Judge(Rules, new FilterFile(path, kind, 100), new FilterFile("cover.jpg", MediaKind.Jpeg, 3));

        Assert.Equal(lack, verdict.Lack);
    }

    [Fact]
    public void Samples_of_different_lengths_still_count_as_samples() =>
        Assert.Equal(ReleaseLack.MoreThanSamples, Judge(Rules, Video("sample-1.mkv", 1000), Video("sample-2.mkv", 10)).Lack);

    [Theory]
    [InlineData("sample-only", "film-sample.mkv", ReleaseLack.MoreThanSamples)]
    [InlineData("sample-only", "Sample/film.mkv", ReleaseLack.MoreThanSamples)]
    [InlineData("sample-only", "sample.mkv", ReleaseLack.MoreThanSamples)]
    [InlineData("The.Sample.2019.1080p", "the.sample.2019-sample.mkv", ReleaseLack.MoreThanSamples)]
    [InlineData("The.Sample.2019.1080p", "The.Sample.mkv", ReleaseLack.None)]
    [InlineData("[Group] The Sample (2019)", "the.sample.2019.mkv", ReleaseLack.None)]
    [InlineData("Sample.2019.1080p", "sample.2019.mkv", ReleaseLack.None)]
    [InlineData("Sample", "sample.mkv", ReleaseLack.None)]
    [InlineData("sample-only", "sample-only.mkv", ReleaseLack.None)]
    public void Sample_in_a_file_name_matching_the_release_is_ignored(string release, string path, ReleaseLack lack) =>
        Assert.Equal(lack, Judge(Rules with { Release = release }, Video(path, 1000)).Lack);

    [Fact]
    public void Samples_alone_are_not_enough_in_exempt_categories()
    {
        var rules = Rules with { NeedsMedia = false, RefusesSamples = true };

        Assert.Equal(ReleaseLack.MoreThanSamples, Judge(rules, Video("film-sample.mkv", 1000)).Lack);
        Assert.Equal(ReleaseLack.None, Judge(rules, Video("film-sample.mkv", 1000), new FilterFile("setup.exe", MediaKind.Unknown, 5)).Lack);
        Assert.Equal(ReleaseLack.None, Judge(rules with { RefusesSamples = false }, Video("film-sample.mkv", 1000)).Lack);
    }

    [Fact]
    public void Blocked_film_leaves_only_samples()
    {
        var verdict = Judge(Rules with { Blocklist = ["*.mkv"] }, Video("film.mkv", 1000), Video("sample.avi", 900));

        Assert.Equal([Blocked, Published], verdict.Files);
        Assert.Equal(ReleaseLack.MoreThanSamples, verdict.Lack);
    }

    [Fact]
    public void Exempt_release_needs_one_file_of_any_kind()
    {
        var rules = Rules with { NeedsMedia = false, ShowsPar2 = true };

        Assert.Equal(ReleaseLack.None, Judge(rules, new FilterFile("setup.exe", MediaKind.Unknown, 5)).Lack);
        Assert.Equal(ReleaseLack.Media, Judge(rules, new FilterFile("setup.par2", MediaKind.Par2, 5)).Lack);
        Assert.Equal(ReleaseLack.Media, Judge(rules).Lack);
    }

    private static FilterFile Video(string path, long length) => new(path, MediaKind.Matroska, length);

    private static FilterVerdict Judge(FilterRules rules, params FilterFile[] files) => ReleaseFilter.Judge(files, rules);
}
