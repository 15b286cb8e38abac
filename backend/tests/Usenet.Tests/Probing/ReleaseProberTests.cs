using Sluice.Testing;
using Sluice.Usenet.Media;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Probing;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Tests.Yenc;
using Xunit;

namespace Sluice.Usenet.Tests.Probing;

public sealed class ReleaseProberTests
{
    private const string Film = "\"film.mkv\" yEnc (1/9)";
    private const string Hidden = "\"1a17f88b4c691c204447e20e3e05767d\" (1/9)";

    private readonly ScriptedArticleSource _source = new(providers: 2);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Plain_file_costs_only_its_first_and_last_article_heads()
    {
        var post = ScriptedPost.Uniform(_source, "a", count: 9, partSize: 40_000, last: 30_000);
        _source.HoldsAfter = 2 * 4096;

        var report = await ProbeAsync(post.Target(Film));

        var file = Assert.Single(report.Files);
        Assert.Equal((HeadState.Found, MediaKind.Matroska, true), (file.State, file.Kind, file.IsConfirmed));
        Assert.Equal(SegmentMap.Uniform(9, 40_000, 350_000), file.Map);
        Assert.Equal(post.Content[..1024], file.FirstBytes.ToArray());
        Assert.Equal("film.mkv", file.Header?.Name);
        Assert.Equal((2, 2, 0, 0), (report.HeadsAsked, report.Fetches, report.Misses, report.Corrupt));
        Assert.Equal(["a-0@x", "a-8@x"], _source.Requests.Select(request => request.Id.ToString()).Order());
        Assert.All(_source.Requests, request => Assert.Equal(OperationLane.Import, request.Lane));
        Assert.Equal((2, 0), (_source.Cancelled, _source.Running));
        Assert.Equal(_source.Delivered, report.Bytes);
        Assert.InRange(report.Bytes, 1, 4 * 4096);
    }

    [Theory]
    [InlineData(9 * 41_300L, 41_300)]
    [InlineData(0, 0)]
    [InlineData(-1, 0)]
    [InlineData(long.MaxValue, 2 << 20)]
    public async Task Expected_head_bytes_come_from_the_NZB_with_a_cap(long claimed, long expected)
    {
        var post = ScriptedPost.Uniform(_source, "a", count: 9, partSize: 40_000, last: 30_000);

        await ProbeAsync(post.Target(Film) with { EncodedBytes = claimed });

        Assert.Equal([expected, expected], _source.Requests.Select(request => request.ExpectedBytes));
    }

    [Fact]
    public async Task File_of_one_segment_costs_one_article()
    {
        var post = ScriptedPost.Uniform(_source, "a", count: 1, partSize: 0, last: 5000);

        var report = await ProbeAsync(post.Target(Film));

        Assert.Equal(SegmentMap.Uniform(1, 5000, 5000), Assert.Single(report.Files).Map);
        Assert.Equal(1, report.HeadsAsked);
    }

    [Theory]
    [InlineData(5000)]
    [InlineData(4_999_999)]
    [InlineData(1)]
    public async Task Single_part_length_is_decoded_not_claimed(long claimed)
    {
        var content = ScriptedPost.Film(5000);
        _source.Post("a-0@x", ScriptedPost.SinglePart(content, claimed));

        var file = Assert.Single((await ProbeAsync(new ProbeTarget(NzbSubject.Parse(Film), new OneId("a-0@x")))).Files);

        Assert.Equal(5000, file.Map?.Length);
    }

    [Fact]
    public async Task Named_set_costs_three_volumes_and_the_par2_index()
    {
        byte[] rar = [.. "Rar!\u001A\u0007\u0001\u0000"u8, .. TestArticle.Noise(3000)], par2 = [.. "PAR2\0PKT"u8, .. TestArticle.Noise(3000)];
        var volumes = Enumerable.Range(1, 6).Select(n => new ScriptedPost(_source, $"v{n}", rar, 1508, 1500)).ToList();
        var (index, repair) = (new ScriptedPost(_source, "p", par2, 1508, 1500), new ScriptedPost(_source, "q", par2, 1508, 1500));
        var report = await ProbeAsync(
            [.. volumes.Select((post, i) => post.Target($"\"film.part{6 - i}.rar\" (1/2)")), repair.Target("\"film.vol000+32.par2\" (1/2)"), index.Target("\"film.PAR2\" (1/2)")]);

        Assert.Equal(["p-0@x", "p-1@x", "v1-0@x", "v1-1@x", "v5-0@x", "v6-0@x"], _source.Requests.Select(request => request.Id.ToString()).Order());
        Assert.All(report.Files.Take(6), file => Assert.Equal((MediaKind.Rar5, "film|part"), (file.Kind, file.VolumeSet)));
        Assert.Equal([3008, null, null, null, 3008, 3008], report.Files.Take(6).Select(file => file.Map?.Length));
        Assert.Equal([true, false, false, false, false, false], report.Files.Take(6).Select(file => file.IsConfirmed));
        Assert.Equal(rar[1508..], report.Files[0].LastBytes.ToArray());
        Assert.Equal([HeadState.Skipped, HeadState.Found], report.Files.Skip(6).Select(file => file.State));
        Assert.All(report.Files.Skip(6), file => Assert.Equal(MediaKind.Par2, file.Kind));
    }

    [Fact]
    public async Task Volume_with_a_contradicting_claimed_length_is_measured()
    {
        byte[] rar = [.. "Rar!\u001A\u0007\u0001\u0000"u8, .. TestArticle.Noise(3000)];
        var volumes = Enumerable.Range(1, 4).Select(n => new ScriptedPost(_source, $"v{n}", rar, 1508, 1500)).ToList();
        _source.Post("v2-0@x", volumes[1].Article(0, 0, 1, fileSize: 99_999));

        var report = await ProbeAsync([.. volumes.Select((post, i) => post.Target($"\"film.part{i + 1}.rar\" (1/2)"))]);

        Assert.Equal([3008, 3008, null, 3008], report.Files.Select(file => file.Map?.Length));
        Assert.Equal(1, report.Files[0].AskedArticles);
        Assert.InRange(report.Files[1].AskedArticles, 2, 3);
    }

    [Fact]
    public async Task Prober_fetches_only_heads_of_obfuscated_archives_and_PAR2()
    {
        var par2 = new ScriptedPost(_source, "p", [.. "PAR2\0PKT"u8, .. TestArticle.Noise(3000)], 1508, 1500);
        var rar = new ScriptedPost(_source, "r", [.. "Rar!\u001A\u0007\u0001\u0000"u8, .. TestArticle.Noise(3000)], 1508, 1500);
        var film = ScriptedPost.Uniform(_source, "f", 3, 2000, 100);

        var report = await ProbeAsync(par2.Target(Hidden), rar.Target(Hidden), film.Target(Hidden));

        Assert.Equal([MediaKind.Par2, MediaKind.Rar5, MediaKind.Matroska], report.Files.Select(file => file.Kind));
        Assert.Equal([3008, 3008, 4100], report.Files.Select(file => file.Map?.Length));
        Assert.Equal(4, report.HeadsAsked);
    }

    [Fact]
    public async Task Unknown_obfuscated_file_is_measured_unless_near_an_archive()
    {
        var unknown = new ScriptedPost(_source, "u", TestArticle.Noise(3000), 1500, 1500);
        var pieces = new ScriptedPost(_source, "z", [(byte)'7', (byte)'z', 0xBC, 0xAF, 0x27, 0x1C, .. TestArticle.Noise(2994)], 1500, 1500);

        var alone = await ProbeAsync(unknown.Target(Hidden));
        var beside = await ProbeAsync(unknown.Target(Hidden), pieces.Target(Hidden));

        Assert.Equal((2, true), (alone.HeadsAsked, alone.Files[0].IsConfirmed));
        Assert.Equal((2, false), (beside.HeadsAsked, beside.Files[0].IsConfirmed));
    }

    [Fact]
    public async Task Wanted_par2_is_probed_like_a_plain_file()
    {
        var par2 = new ScriptedPost(_source, "p", [.. "PAR2\0PKT"u8, .. TestArticle.Noise(3000)], 1508, 1500);

        var report = await new ReleaseProber(_source, new ProbeOptions { IncludesPar2 = true }).ProbeAsync([par2.Target("\"film.par2\" (1/2)")], null, Token);

        Assert.Equal((MediaKind.Par2, HeadState.Found, 3008L), (report.Files[0].Kind, report.Files[0].State, report.Files[0].Map!.Length));
        Assert.Equal(2, report.HeadsAsked);
    }

    [Fact]
    public async Task Missing_first_article_is_counted_and_never_a_fault()
    {
        var gone = ScriptedPost.Uniform(_source, "a", 3, 2000, 100);
        var whole = ScriptedPost.Uniform(_source, "b", 3, 2000, 100);
        _source.Remove("a-0@x");

        var report = await ProbeAsync(gone.Target(Film), whole.Target(Film));

        Assert.Equal((HeadState.Missing, null, 1), (report.Files[0].State, report.Files[0].Map, report.Files[0].MissingArticles));
        Assert.Equal(HeadState.Found, report.Files[1].State);
        Assert.Equal(1, report.Misses);
    }

    [Fact]
    public async Task Missing_first_and_last_article_are_both_counted()
    {
        var gone = ScriptedPost.Uniform(_source, "a", 3, 2000, 100);
        _source.Remove("a-0@x");
        _source.Remove("a-2@x");

        var file = Assert.Single((await ProbeAsync(gone.Target(Film))).Files);

        Assert.Equal((HeadState.Missing, 2, 2), (file.State, file.MissingArticles, file.AskedArticles));
    }

    [Fact]
    public async Task Duplicate_replaces_a_missing_article()
    {
        var post = ScriptedPost.Uniform(_source, "a", 3, 2000, 100);
        _source.Remove("a-2@x");
        _source.Post("a-2-again@x", post.Article(2, 4000, 3));

        var report = await ProbeAsync(post.Target(Film));

        Assert.Equal(4100, report.Files[0].Map?.Length);
        Assert.Equal(0, report.Misses);
    }

    [Theory]
    [InlineData(4100, 4100)]
    [InlineData(4000, null)]
    [InlineData(9999, null)]
    public async Task Missing_last_article_keeps_the_claimed_size_if_plausible(long claimed, int? expected)
    {
        var post = ScriptedPost.Uniform(_source, "a", 3, 2000, 100);
        _source.Post("a-0@x", post.Article(0, 0, 1, fileSize: claimed));
        _source.Remove("a-2@x");

        var file = Assert.Single((await ProbeAsync(post.Target(Film))).Files);

        Assert.Equal(expected, file.Map?.Length);
        Assert.Equal((HeadState.Found, false, 1), (file.State, file.IsConfirmed, file.MissingArticles));
    }

    [Fact]
    public async Task Provider_fault_is_thrown_without_a_verdict_on_the_files()
    {
        var posts = Enumerable.Range(0, 20).Select(n => ScriptedPost.Uniform(_source, $"f{n}", 3, 2000, 100)).ToList();
        _source.Break("f7-2@x", NntpFault.Stalled);

        var fault = await Assert.ThrowsAsync<NntpException>(() => ProbeAsync([.. posts.Select(post => post.Target(Film))]));

        Assert.Equal(NntpFault.Stalled, fault.Fault);
        Assert.Equal(0, _source.Running);
    }

    [Fact]
    public async Task Cancellation_ends_every_fetch()
    {
        using var cancel = new CancellationTokenSource();
        var post = ScriptedPost.Uniform(_source, "a", 3, 2000, 100);
        await cancel.CancelAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => new ReleaseProber(_source).ProbeAsync([post.Target(Film)], null, cancel.Token));
        Assert.Equal(0, _source.Running);
    }

    [Fact]
    public async Task Many_files_are_probed_in_parallel_within_the_limit()
    {
        var posts = Enumerable.Range(0, 200).Select(n => ScriptedPost.Uniform(_source, $"f{n}", 2, 2000, 1500)).ToList();
        var steps = new List<int>();
        var progress = new Steps(steps);

        var report = await new ReleaseProber(_source, new ProbeOptions { Concurrency = 8 }).ProbeAsync(
            [.. posts.Select((post, n) => post.Target($"\"f{n}.mkv\" (1/2)"))], progress, Token);

        Assert.Equal((400, 400), (report.HeadsAsked, report.Fetches));
        Assert.InRange(_source.MostRunning, 4, 8);
        Assert.All(report.Files, file => Assert.True(file.IsConfirmed));
        Assert.Equal(Enumerable.Range(0, 200).Select(n => (int[])[n]), report.Files.Select(file => file.Members));
        Assert.Equal(201, steps.Count);
        Assert.Equal(200, steps.Max());
    }

    [Theory]
    [InlineData("raw-mkv", "film.mkv", MediaKind.Matroska)]
    [InlineData("raw-dots", "film.mkv", MediaKind.Matroska)]
    [InlineData("raw-faststart", "faststart.mp4", MediaKind.Mp4)]
    public async Task Real_post_is_recognized_and_measured(string release, string name, MediaKind kind)
    {
        await SpoolFolder.PostAsync(_source, Repository.Fixture($"posts/{release}"), Token);
        var targets = await ReadTargetsAsync(release);

        var report = await ProbeAsync(targets);

        var file = Assert.Single(report.Files);
        Assert.Equal((name, kind, true), (file.Subject.FileName, file.Kind, file.IsConfirmed));
        Assert.Equal(file.Header?.FileSize, file.Map?.Length);
        Assert.Equal(2, report.HeadsAsked);
    }

    [Fact]
    public async Task Real_archive_costs_at_most_four_heads()
    {
        await SpoolFolder.PostAsync(_source, Repository.Fixture("posts/rar4"), Token);

        var report = await ProbeAsync(await ReadTargetsAsync("rar4"));

        Assert.InRange(report.HeadsAsked, 1, 4);
        Assert.All(report.Files, file => Assert.Equal(MediaKind.Rar4, file.Kind));
    }

    private static async Task<ProbeTarget[]> ReadTargetsAsync(string release)
    {
        await using var nzb = File.OpenRead(Repository.Fixture($"posts/{release}.nzb"));
        var stored = new MemoryStream();
        var writer = new MessageIdListWriter(stored);
        var files = new List<(string Subject, int First, int Count)>();
        await foreach (var file in NzbReader.ReadAsync(nzb, null, new NzbHead(), Token))
            files.Add((file.Subject, await writer.AddAsync(file, Token), file.Segments.Count));
        await writer.CompleteAsync(Token);

        var list = await MessageIdList.OpenAsync(stored, Token);
        return [.. files.Select(file => new ProbeTarget(NzbSubject.Parse(file.Subject), list.Slice(file.First, file.Count)))];
    }

    private Task<ProbeReport> ProbeAsync(params ProbeTarget[] targets) => new ReleaseProber(_source).ProbeAsync(targets, null, Token);

    private sealed class OneId(string id) : ISegmentIds
    {
        public int Count => 1;

        public ValueTask<SegmentIds> GetAsync(int index, CancellationToken cancellationToken) => new(new SegmentIds(MessageId.Parse(id), []));
    }

    private sealed class Steps(List<int> steps) : IProgress<int>
    {
        public void Report(int value)
        {
            lock (steps)
                steps.Add(value);
        }
    }
}
