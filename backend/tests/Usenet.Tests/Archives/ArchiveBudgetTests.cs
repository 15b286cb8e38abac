using System.Collections.Concurrent;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Layouts;
using Sluice.Usenet.Archives;
using Xunit;

namespace Sluice.Usenet.Tests.Archives;

/// <summary>Limits on the cost of a release, however many volumes, sets and salts it has (IMP-56, IMP-57).</summary>
public sealed class ArchiveBudgetTests
{
    private const int EmptyEntries = 9_800;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(0, 1 << 20, 10_000)]
    [InlineData(1, (1 << 20) + (16 << 10), 10_016)]
    [InlineData(1_000, (1 << 20) + (1_000 * (16 << 10)), 26_000)]
    [InlineData(100_000, 64 << 20, 74_512)]
    public void Budget_grows_with_volumes_up_to_64_MiB(int volumes, long bytes, int steps)
    {
        var budget = new ArchiveBudget(volumes);
        budget.TakeBytes(bytes);
        budget.TakeSteps(steps);

        Assert.Equal(ArchiveFault.Unsupported, Assert.Throws<ArchiveException>(() => budget.TakeBytes(1)).Fault);
        Assert.Equal(ArchiveFault.Unsupported, Assert.Throws<ArchiveException>(() => budget.TakeSteps()).Fault);
        Assert.Equal((bytes, steps), (budget.Bytes, budget.Steps));
    }

    [Fact]
    public void Refused_reservation_takes_nothing_from_the_budget()
    {
        var budget = new ArchiveBudget();
        foreach (var claim in new[] { long.MaxValue, long.MinValue, -1, ArchiveBudget.BaseBytes + 1 })
            Assert.Throws<ArchiveException>(() => budget.TakeBytes(claim));
        Assert.Throws<ArchiveException>(() => budget.TakeUnpacked(ArchiveBudget.MaxUnpacked + 1L));

        budget.TakeBytes(ArchiveBudget.BaseBytes);
        budget.TakeUnpacked(ArchiveBudget.MaxUnpacked);
        Assert.Throws<ArchiveException>(() => budget.TakeUnpacked(1));
    }

    [Fact]
    public void Parallel_readers_share_one_budget()
    {
        var budget = new ArchiveBudget();
        var refused = 0;
        Parallel.For(0, 2 * ArchiveBudget.BaseSteps, _ =>
        {
            try
            {
                budget.TakeSteps();
            }
            catch (ArchiveException)
            {
                Interlocked.Increment(ref refused);
            }
        });

        Assert.Equal((ArchiveBudget.BaseSteps, ArchiveBudget.BaseSteps), (budget.Steps, refused));
    }

    [Theory]
    [InlineData(VolumeNaming.Usual)]
    [InlineData(VolumeNaming.Random)]
    public async Task Volumes_flooded_with_headers_are_refused(VolumeNaming naming)
    {
        const int Volumes = 40;
        await using var post = await MappedPost.MapAsync(Flood(Volumes, naming));

        Assert.Empty(post.Map.Files);
        var longest = post.Map.Refused.MaxBy(set => set.Bytes)!;
        Assert.Equal((ArchiveFault.Unsupported, "the release has too many headers"), (longest.Fault, longest.Detail));
    }

    [Fact]
    public async Task Set_of_a_thousand_volumes_reads_without_prediction()
    {
        var release = MockLayouts.Builder("thousand").AddArchive(MockLayouts.Rar5(1_000, 3_000_000)).Build();
        await using var post = await MappedPost.MapAsync(release, new MappingOptions { PredictsVolumes = false });

        Assert.Empty(post.Map.Refused);
        Assert.Equal(1_000, Assert.Single(post.Map.Files).Extents.Count);
        var film = post.Map.Files[0];
        await post.AssertRangeAsync(release.Entries[0], film, 1_500_000, 50_000);
    }

    [Theory]
    [InlineData(LayoutFormat.Rar5, true)]
    [InlineData(LayoutFormat.Rar5, false)]
    [InlineData(LayoutFormat.Rar4, true)]
    [InlineData(LayoutFormat.Rar4, false)]
    [InlineData(LayoutFormat.SevenZip, true)]
    [InlineData(LayoutFormat.SevenZip, false)]
    public async Task Season_of_24_encrypted_sets_is_read(LayoutFormat format, bool encryptsHeaders)
    {
        const string Password = "open-sesame";
        var builder = MockLayouts.Builder($"season-{format}-{encryptsHeaders}").Password(Password);
        for (var episode = 1; episode <= 24; episode++)
        {
            builder.AddArchive(new ArchiveLayout
            {
                Format = format,
                Volumes = 4,
                Stem = $"show.s01e{episode:00}",
                Entries = [new($"show.s01e{episode:00}.mkv", 60_000)],
                Password = Password,
                EncryptsHeaders = encryptsHeaders,
                KeyRoundsLog2 = format == LayoutFormat.SevenZip ? 19 : 15,
            });
        }

        await using var post = await MappedPost.MapAsync(builder.Build(), passwords: ["not this", "nor that", "nothing"]);
        await post.AssertReadsAsPostedAsync();
    }

    [Fact]
    public async Task Wrong_passwords_are_tried_on_the_first_set_only()
    {
        var wrong = Enumerable.Range(0, 20).Select(i => $"wrong {i}").ToArray();
        var deriver = new CountingDeriver();
        var keys = new ArchiveKeys([.. wrong, "secret"], deriver);
        var volumes = Enumerable.Range(0, 24).Select(set => Locked($"salt of set {set:00}!!", "secret")).ToList();

        await Parallel.ForEachAsync(volumes, new ParallelOptions { MaxDegreeOfParallelism = 16, CancellationToken = Token }, async (volume, token) =>
            await RarVolumeReader.ReadAsync(new HeaderWindow(new RarInput(volume), new ArchiveBudget()), new RarPasswords(keys), RarDepth.Whole, token));

        // Derives one check value for each wrong password, then check value and key for each set.
        Assert.Equal(wrong.Length + 24, deriver.Requests.Count(request => request.Scheme == KeyScheme.Rar5Check));
        Assert.Equal(24, deriver.Requests.Count(request => request.Scheme == KeyScheme.Rar5));
    }

    [Fact]
    public async Task Key_derivation_for_1000_salts_stops_at_the_round_limit()
    {
        var deriver = new CountingDeriver();
        var keys = new ArchiveKeys(["secret"], deriver);
        var passwords = new RarPasswords(keys);
        var refused = 0;
        for (var set = 0; set < 1_000; set++)
        {
            try
            {
                await RarVolumeReader.ReadAsync(
                    new HeaderWindow(new RarInput(Locked($"salt {set:00000000000}", "secret", roundsLog2: 18)), new ArchiveBudget()), passwords, RarDepth.Whole, Token);
            }
            catch (ArchiveException failure)
            {
                Assert.Equal((ArchiveFault.Unsupported, "the keys of the release take too long to derive"), (failure.Fault, failure.Detail));
                refused++;
            }
        }

        Assert.Equal(7, 1_000 - refused);
        Assert.InRange(deriver.Requests.Sum(KeyDeriver.CostOf), 1, ArchiveKeys.MaxRounds);
    }

    [Fact]
    public void Cheap_keys_are_limited_to_4096()
    {
        var deriver = new CountingDeriver();
        var keys = new ArchiveKeys(["secret"], deriver);
        Assert.Throws<ArchiveException>(() =>
        {
            for (var salt = 0; salt < 1 << 22; salt++)
                keys.Get(new KeyRequest(KeyScheme.Rar5, "secret", salt.ToString("X32", System.Globalization.CultureInfo.InvariantCulture), 0));
        });

        Assert.Equal(4096, deriver.Requests.Count);
    }

    [Fact]
    public async Task Concurrent_requests_derive_a_key_once_and_block_no_other()
    {
        using var deriver = new BlockingDeriver();
        var keys = new ArchiveKeys(["secret"], deriver);
        var slow = new KeyRequest(KeyScheme.Rar5, "secret", "00", 15);
        var first = Task.Factory.StartNew(() => keys.Get(slow), Token, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        await deriver.Entered.Task.WaitAsync(Token);
        var second = Task.Factory.StartNew(() => keys.Get(slow), Token, TaskCreationOptions.LongRunning, TaskScheduler.Default);

        Assert.NotNull(keys.Get(slow with { Salt = "01" }));
        deriver.Proceed.Set();
        Assert.Same(await first, await second);
        Assert.Equal(2, deriver.Count);
    }

    /// <summary>Returns a release of identical volumes that hold only empty entries.</summary>
    private static MockRelease Flood(int volumes, VolumeNaming naming)
    {
        var writer = new Rar5Writer().Main();
        for (var entry = 0; entry < EmptyEntries; entry++)
            writer.File($"folder/an empty entry with a long name {entry}", 0, []);
        var bytes = MockBytes.Of(writer.End().ToArray());
        var builder = MockLayouts.Builder($"flood-{naming}", 1 << 20);
        for (var volume = 1; volume <= volumes; volume++)
            builder.AddFile(naming == VolumeNaming.Usual ? $"film.part{volume:000}.rar" : $"{volume * 0x1234567L:x32}", bytes, isTruth: false);
        return builder.Build();
    }

    /// <summary>Returns a volume with encrypted headers and a check value.</summary>
    private static byte[] Locked(string salt, string password, byte roundsLog2 = 15)
    {
        var deriver = new FreeKeyDeriver();
        byte[] saltBytes = System.Text.Encoding.ASCII.GetBytes(salt);
        Assert.Equal(16, saltBytes.Length);
        return new Rar5Writer().Encrypt(deriver, password, saltBytes, roundsLog2).Main().File("film.mkv", 4, [1, 2, 3, 4]).End().ToArray();
    }

    private sealed class CountingDeriver : IKeyDeriver
    {
        private readonly FreeKeyDeriver _free = new();

        public ConcurrentBag<KeyRequest> Requests { get; } = [];

        public DerivedKey Derive(KeyRequest request)
        {
            Requests.Add(request);
            return _free.Derive(request);
        }
    }

    private sealed class BlockingDeriver : IKeyDeriver, IDisposable
    {
        private readonly FreeKeyDeriver _free = new();
        private int _count;

        public TaskCompletionSource Entered { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public ManualResetEventSlim Proceed { get; } = new();

        public int Count => _count;

        public void Dispose() => Proceed.Dispose();

        public DerivedKey Derive(KeyRequest request)
        {
            Interlocked.Increment(ref _count);
            if (request.Salt == "00")
            {
                Entered.TrySetResult();
                Proceed.Wait(TestContext.Current.CancellationToken);
            }

            return _free.Derive(request);
        }
    }
}
