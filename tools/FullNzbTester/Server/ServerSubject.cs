using System.Diagnostics;
using System.Net;
using System.Net.Http.Headers;
using System.Text;
using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Tools.FullNzbTester.Cli;
using Sluice.Tools.FullNzbTester.Measure;
using Sluice.Tools.FullNzbTester.Mock;
using Sluice.Tools.FullNzbTester.Sessions;
using Sluice.Tools.FullNzbTester.Steps;
using Sluice.Usenet.Nntp;

namespace Sluice.Tools.FullNzbTester.Server;

/// <summary>
/// Measures a running server from outside. Its caches cannot be emptied, so a cold measurement reads an unseen release over connections
/// that the mock has just closed. An NZB from the command line is used for every measurement.
/// </summary>
internal sealed class ServerSubject : ISubject
{
    private const long ImportedSize = 20 << 20;

    private readonly TesterOptions _options;
    private readonly ServerFlags _server;
    private readonly MockControl? _mock;
    private readonly IReadOnlyList<ProviderOptions> _providers;
    private readonly FreshSeeds _seeds;
    private readonly HttpClient _http;
    private readonly SabApi _api;
    private PublishedRelease? _named;

    /// <param name="mock">The mock's control port, or null.</param>
    /// <param name="providers">The mock's providers, for <see cref="HoleJudge"/>.</param>
    /// <param name="seeds">Seeds of releases that the server has not seen.</param>
    public ServerSubject(TesterOptions options, MockControl? mock, IReadOnlyList<ProviderOptions> providers, FreshSeeds seeds)
    {
        _options = options;
        _server = options.Server!;
        _mock = mock;
        _providers = providers;
        _seeds = seeds;

        // Do not drain a response to reuse its connection, because a player that seeks disconnects.
        _http = new HttpClient(new SocketsHttpHandler { MaxResponseDrainSize = 0, UseCookies = false, AllowAutoRedirect = false })
        {
            Timeout = Timeout.InfiniteTimeSpan,
            DefaultRequestVersion = HttpVersion.Version11,
        };
        var credentials = Convert.ToBase64String(Encoding.UTF8.GetBytes($"{_server.User}:{_server.Password}"));
        _http.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Basic", credentials);
        _api = new SabApi(_http, _server);
    }

    public async Task ImportAsync(RunContext run, StepRunner steps, CancellationToken cancellationToken)
    {
        var memory = run.Memory.Now;
        var importMs = 0d;
        PublishedRelease? published = null;
        await steps.RunAsync(1, async () =>
        {
            // Print the warm-up import but do not count it, because it includes one-time costs such as the first connection to a provider.
            if (run.Number == 1 && _options.NzbFile is null)
            {
                var (firstMs, _) = await TimeImportAsync(await NextReleaseAsync(run, SessionUse.Seeks, cancellationToken), cancellationToken);
                run.Narrator.Say($"    the first import of all: {firstMs:0} ms");
            }

            if (_mock is not null && _options.NzbFile is null)
                run.Metrics["import_cold_ms"] = await ColdImportAsync(run, _mock, cancellationToken);

            var before = await CountsAsync(cancellationToken);
            var release = await NextReleaseAsync(run, SessionUse.Seeks, cancellationToken);
            (importMs, var storage) = await TimeImportAsync(release, cancellationToken);
            run.Metrics["import_ms"] = importMs;
            run.Metrics["import_heads"] = _mock is null ? null : (await CountsAsync(cancellationToken)).Since(before).Bodies;
            published = await FindAsync(release, storage, cancellationToken);
            run.Narrator.Say($"    added and in the history in {importMs:0} ms: {storage}");
            return null;
        });
        foreach (var step in new[] { 2, 3, 4 })
            await steps.SkipAsync(step, "done by the server in step 1");

        run.Files = published!.Files;
        run.Metrics["rss_item_mib"] = run.Memory.Now - memory;
        await using var session = await StartAsync(published, cancellationToken);
        var first = await new SeekProbe(run, session).FreshAsync(run.Picked, position: 0, SeekProbe.FirstRead, cancellationToken);
        run.Metrics["click_to_byte_ms"] = first.FirstByte < 0 ? first.FirstByte : importMs + first.FirstByte;
    }

    public async Task<IContentSession> OpenSessionAsync(RunContext run, SessionUse use, CancellationToken cancellationToken)
    {
        var published = _named;
        if (published is null)
        {
            var release = await NextReleaseAsync(run, use, cancellationToken);
            published = await FindAsync(release, (await TimeImportAsync(release, cancellationToken)).Storage, cancellationToken);
        }

        if (_mock is not null)
        {
            await _mock.WaitUntilQuietAsync(cancellationToken);
            await _mock.DropConnectionsAsync(cancellationToken);
        }

        return await StartAsync(published, cancellationToken);
    }

    public Func<CancellationToken, Task> PrepareImports(RunContext run, int count)
    {
        var options = _options with { Mock = _options.Mock! with { Size = ImportedSize, Files = 1 } };
        var releases = new ReleaseContent[count];
        for (var i = 0; i < count; i++)
        {
            releases[i] = ReleaseContent.Load(options, _seeds.Next(run.Number, SessionUse.Seeks));

            // Encode here, so that encoding is not measured.
            _ = releases[i].Nzb;
        }

        return cancellationToken => Task.WhenAll(releases.Select(release => TimeImportAsync(release, cancellationToken)));
    }

    public async ValueTask<LineCounts> CountsAsync(CancellationToken cancellationToken) =>
        _mock is null ? default : LineCounts.Of((await _mock.CountsAsync(cancellationToken)).Total);

    public ProcessCost Cost() => ProcessCost.Of(_server.Pid);

    public IEnumerable<string> Disagreements(MockCounts counts) => MockVerdict.OverTheCap(counts, _options.Connections);

    public ValueTask DisposeAsync()
    {
        _http.Dispose();
        return ValueTask.CompletedTask;
    }

    /// <summary>Returns an unseen release with its NZB. Articles of sequentially read files are pre-encoded.</summary>
    private async Task<ReleaseContent> NextReleaseAsync(RunContext run, SessionUse use, CancellationToken cancellationToken)
    {
        if (_options.NzbFile is not null)
            return run.Release;
        var seed = _seeds.Next(run.Number, use);
        if (use != SessionUse.Seeks && _mock is not null)
            return await ReleaseContent.PrepareAsync(_options, seed, _mock, cancellationToken);
        return ReleaseContent.Load(_options, seed);
    }

    /// <summary>Imports while no connection is open.</summary>
    private async Task<double> ColdImportAsync(RunContext run, MockControl mock, CancellationToken cancellationToken)
    {
        var release = await NextReleaseAsync(run, SessionUse.Seeks, cancellationToken);
        await mock.WaitUntilQuietAsync(cancellationToken);
        await mock.DropConnectionsAsync(cancellationToken);
        return (await TimeImportAsync(release, cancellationToken)).Milliseconds;
    }

    private async Task<(double Milliseconds, string Storage)> TimeImportAsync(ReleaseContent release, CancellationToken cancellationToken)
    {
        var nzb = release.Nzb;
        var started = Stopwatch.GetTimestamp();
        var id = await _api.AddAsync(release.Name, nzb, cancellationToken);
        var storage = await _api.WaitAsync(id, cancellationToken);
        return (Stopwatch.GetElapsedTime(started).TotalMilliseconds, storage);
    }

    /// <summary>Finds the release by the last two names of its folder, because the history has the path that other programs see.</summary>
    private async Task<PublishedRelease> FindAsync(ReleaseContent release, string storage, CancellationToken cancellationToken)
    {
        var names = storage.Split(['/', '\\'], StringSplitOptions.RemoveEmptyEntries);
        if (names.Length < 2)
            throw new IOException($"The history says that the release is in \"{storage}\", which is no folder of a category.");
        var folder = new Uri(_server.Url, $"content/{Uri.EscapeDataString(names[^2])}/{Uri.EscapeDataString(names[^1])}/");
        var published = await PublishedRelease.DescribeAsync(release, await DavListing.ListAsync(_http, folder, cancellationToken), cancellationToken);
        if (_options.NzbFile is not null)
            _named = published;
        return published;
    }

    private async Task<ServerSession> StartAsync(PublishedRelease published, CancellationToken cancellationToken)
    {
        var session = new ServerSession(_http, published, _mock, _providers);
        await session.StartAsync(cancellationToken);
        return session;
    }
}
