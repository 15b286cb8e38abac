using System.Globalization;
using System.Text;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.History;
using Sluice.Server.Queue.Steps;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Tools.MockNntpServer.Layouts;
using Xunit;

namespace Sluice.Server.Tests.ArchiveImport;

/// <summary>Each reason appears within its time limit of docs/contracts/import.md, section 9, from the start of work, on the server's clock.</summary>
/// <remarks>
/// The clock runs at a twentieth of real time: waits of the import count in full, while the machine may be twenty times slower than one that
/// meets the limits.
/// </remarks>
public sealed class ReasonTimeTests(ReasonTimeTests.SlowedServer server) : IClassFixture<ReasonTimeTests.SlowedServer>
{
    private const int Slowness = 20;
    private const int ArticleSize = 20_000;

    // These reasons have no time limit on the clock of an import; each value says how the reason arises.
    private static readonly Dictionary<FailureReason, string> Elsewhere = new()
    {
        [FailureReason.StoredNzbLost] = "ImportTests: found at a start",
        [FailureReason.UrlFetchFailed] = "AddUrlTests: no import begins",
        [FailureReason.UrlRefused] = "AddUrlTests: no import begins",
        [FailureReason.Stalled] = "StepRunnerTests: twice the limit of a step, on a clock that the test moves",
        [FailureReason.Cancelled] = "RunningItemTests: when a client says so",
        [FailureReason.FailedBefore] = "FamilyImportTests: no import begins",
    };

    private static readonly Dictionary<FailureReason, (TimeSpan Within, Func<Trouble> Make)> Reasons = new()
    {
        [FailureReason.NotAnNzb] = (Milliseconds(50), () => Text("<html><body>404</body></html>")),
        [FailureReason.NzbEmpty] = (Milliseconds(50), () => Text("<nzb></nzb>")),
        [FailureReason.NzbTooLarge] = (Seconds(3), () => new Trouble { Nzb = NzbText.Of([.. Enumerable.Range(0, 50_001).Select(i => i.ToString(CultureInfo.InvariantCulture))]) }),
        [FailureReason.DuplicateRelease] = (Milliseconds(50), () => new Trouble { Release = Film("Twice", 1).Build(), Repeats = true }),
        [FailureReason.KnownDead] = (Milliseconds(50), () => Gone("Known", 2, release => ArticleSelection.Article(release.MessageId(0, 9)), repeats: true)),
        [FailureReason.DeadPost] = (Seconds(10), () => Gone("Dead", 3, _ => ArticleSelection.All)),
        [FailureReason.SevereDamage] = (Seconds(10), () => Gone("Severe", 4, _ => ArticleSelection.Parts([.. Enumerable.Range(2, 62)]), 64)),
        [FailureReason.MissingArticles] = (Seconds(10), () => Gone("Missing", 5, release => ArticleSelection.Article(release.MessageId(0, 9)))),
        [FailureReason.CorruptArticles] = (Seconds(10), () =>
        {
            var release = Film("Corrupt", 6).Build();
            return new Trouble { Release = release, Fault = new MockFault { Kind = FaultKind.YencNoBegin, Articles = ArticleSelection.Article(release.MessageId(0, 1)) } };
        }
        ),
        [FailureReason.IncompleteSet] = (Seconds(3), () => Set("Incomplete", 7, Rar() with { Volumes = 24, Naming = VolumeNaming.Random, Unposted = [21, 22, 23] })),
        [FailureReason.CompressedArchive] = (Seconds(3), () => Set("Compressed", 8, Rar() with { Entries = [new LayoutEntry("film.mkv", 500_000) { IsCompressed = true }] })),
        [FailureReason.EncryptedNoPassword] = (Seconds(3), () => Set("Encrypted", 9, Rar() with { Password = "pw", EncryptsHeaders = true })),
        [FailureReason.WrongPassword] = (Seconds(3), () => Set("Wrong", 10, Rar() with { Password = "pw", EncryptsHeaders = true }, "&password=other")),
        [FailureReason.UnsupportedArchive] = (Seconds(3), () => Set("Rounds", 11, Rar() with { Password = "pw", KeyRoundsLog2 = 22, EncryptsHeaders = true }, "&password=pw")),
        [FailureReason.BrokenArchive] = (Seconds(5), Broken),
        [FailureReason.InternalError] = (Seconds(3), () => new Trouble { Release = Film("Defect", 15).Build() }),
        [FailureReason.NoMedia] = (Seconds(3), () => new Trouble { Release = new ReleaseBuilder("Book", 13, ArticleSize).AddFile("Book.txt", 40_000).Build() }),
        [FailureReason.OnlySamples] = (Seconds(3), () => new Trouble { Release = new ReleaseBuilder("Samples", 14, ArticleSize).AddFile("film-sample.mkv", 90_000).Build() }),
    };

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public static TheoryData<string> Names => new(Reasons.Keys.Select(reason => reason.ToString()));

    [Fact]
    public void Every_failure_reason_has_a_time_limit_or_another_test() =>
        Assert.Equal(Enum.GetValues<FailureReason>().Order(), Reasons.Keys.Concat(Elsewhere.Keys).Order());

    [Theory]
    [MemberData(nameof(Names))]
    public async Task Failure_reason_is_given_within_its_time_limit(string name)
    {
        var reason = Enum.Parse<FailureReason>(name);
        var (within, make) = Reasons[reason];
        var trouble = make();
        if (trouble.Release is { } release)
            server.Mock.Post(release);
        server.Mock.ChangeFaults(trouble.Fault is { } fault ? [fault] : []);
        server.Mock.ChangeMissing(trouble.Release is { } post ? trouble.Missing(post) : ArticleSelection.None);
        var nzb = trouble.Nzb ?? trouble.Release!.ToNzb();
        if (trouble.Repeats)
            await server.EndAsync(nzb, name, trouble.Query, Token);

        var item = await server.EndAsync(nzb, name, trouble.Query, Token);

        Assert.Equal(name, item.Reason);
        Assert.NotEqual("", item.FailMessage);
        var took = item.CompletedAt - item.StartedAt;
        Assert.True(took <= within, $"{name} took {took.TotalMilliseconds} ms of {within.TotalMilliseconds}.");
    }

    private static TimeSpan Milliseconds(double count) => TimeSpan.FromMilliseconds(count);

    private static TimeSpan Seconds(double count) => TimeSpan.FromSeconds(count);

    private static Trouble Text(string text) => new() { Nzb = Encoding.UTF8.GetBytes(text) };

    private static ReleaseBuilder Film(string title, ulong seed, int articles = 9) => new ReleaseBuilder(title, seed, ArticleSize).AddFile(title + ".mkv", (long)articles * ArticleSize);

    private static Trouble Gone(string title, ulong seed, Func<MockRelease, ArticleSelection> missing, int articles = 9, bool repeats = false) =>
        new() { Release = Film(title, seed, articles).Build(), Missing = missing, Repeats = repeats };

    private static ArchiveLayout Rar() => new() { Format = LayoutFormat.Rar5, Entries = [new LayoutEntry("film.mkv", 500_000)], Volumes = 3 };

    private static Trouble Set(string title, ulong seed, ArchiveLayout layout, string query = "") =>
        new() { Release = new ReleaseBuilder(title, seed, ArticleSize).AddArchive(layout).Build(), Query = query };

    private static Trouble Broken()
    {
        var volume = Rar().Make(12).Volumes[0];
        var bytes = new byte[volume.Bytes.Length];
        volume.Bytes.Fill(0, bytes);
        bytes[14] ^= 0x40;
        return new Trouble { Release = new ReleaseBuilder("Broken", 12, ArticleSize).AddFile(volume.Name, MockBytes.Of(bytes)).Build() };
    }

    /// <summary>The input that leads to a reason.</summary>
    private sealed record Trouble
    {
        public MockRelease? Release { get; init; }

        /// <summary>Replaces the release's own NZB; null to add that.</summary>
        public byte[]? Nzb { get; init; }

        public MockFault? Fault { get; init; }

        public Func<MockRelease, ArticleSelection> Missing { get; init; } = _ => ArticleSelection.None;

        public string Query { get; init; } = "";

        /// <summary>Whether the reason appears at the second addition.</summary>
        public bool Repeats { get; init; }
    }

    /// <summary>A step that throws for one item.</summary>
    private sealed class DefectiveStep : IImportStep
    {
        public string Name => "Defect";

        public int Weight => 0;

        public Task<ImportFailure?> RunAsync(ImportWork work, StepProgress progress, CancellationToken cancellationToken) =>
            work.Item.Name == nameof(FailureReason.InternalError) ? throw new InvalidOperationException("A defect.") : Task.FromResult<ImportFailure?>(null);
    }

    /// <summary>A server on a slowed clock, with a provider.</summary>
    public sealed class SlowedServer : IAsyncLifetime
    {
        private readonly TemporaryFolder _folder = new();
        private ProductHost? _host;
        private MockServer? _mock;

        public MockServer Mock => _mock!;

        public async ValueTask InitializeAsync()
        {
            _mock = await MockServer.StartAsync();
            _host = await ProductHost.StartAsync(
                _folder,
                _mock,
                services =>
                {
                    services.AddSingleton<TimeProvider>(new SlowedClock(Slowness));
                    services.Insert(0, ServiceDescriptor.Singleton<IImportStep>(new DefectiveStep()));
                },
                ("SLUICE_CONFIG__API__DUPLICATE_NZB_BEHAVIOR", "mark-failed"));
        }

        public async ValueTask DisposeAsync()
        {
            await _host!.DisposeAsync();
            await Mock.DisposeAsync();
            _folder.Dispose();
        }

        internal async Task<HistoryItem> EndAsync(byte[] nzb, string name, string query, CancellationToken cancellationToken)
        {
            var id = (await _host!.AddAsync(nzb, name + ".nzb", cancellationToken, query))[0];
            await _host.WaitForHistoryAsync(id, cancellationToken);
            return (await _host.Get<HistoryStore>().FindAsync(id, cancellationToken))!;
        }
    }
}
