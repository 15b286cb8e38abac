using System.Text;
using Sluice.Tools.FullNzbTester.Cli;
using Sluice.Tools.FullNzbTester.Engine;
using Sluice.Tools.FullNzbTester.Measure;
using Sluice.Tools.FullNzbTester.Mock;
using Sluice.Tools.FullNzbTester.Report;
using Sluice.Tools.FullNzbTester.Server;
using Sluice.Tools.FullNzbTester.Sessions;
using Sluice.Tools.FullNzbTester.Steps;
using Sluice.Usenet.Nntp;

namespace Sluice.Tools.FullNzbTester;

/// <summary>One call of the tool: starts the mock, runs the steps and reports.</summary>
internal sealed class Tester(TesterOptions options, TextWriter output, TextWriter error, bool isTerminal)
{
    // Starting the mock is not part of the run's time limit, so it has its own.
    private static readonly TimeSpan LongestStart = TimeSpan.FromMinutes(5);

    private readonly Machine _machine = Machine.Current();

    // If stdout carries the JSON, all other text goes to stderr.
    private readonly TextWriter _text = options.JsonFile == "-" ? error : output;
    private readonly List<RunContext> _runs = [];

    /// <returns>The exit code.</returns>
    /// <exception cref="UsageException">The flags make no sense; nothing was measured.</exception>
    public async Task<int> RunAsync(CancellationToken interrupted)
    {
        var comparison = options.CompareFile is null ? null : Comparison.Load(options.CompareFile, options, _machine);
        var started = TimeProvider.System.GetUtcNow();
        await using var memory = options.Server is { } server ? ResidentMemory.Of(server.Pid) : ResidentMemory.OfThis();
        using var limit = new CancellationTokenSource(LongestStart, TimeProvider.System);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, interrupted);

        var (exit, verdict) = (ExitCode.Good, "ok");
        try
        {
            await RunAllAsync(memory, limit, either.Token);
            if (_runs.SelectMany(run => run.Findings.Failures).FirstOrDefault() is { } failure)
                (exit, verdict) = (ExitCode.Failed, failure);
        }
        catch (OperationCanceledException) when (either.IsCancellationRequested)
        {
            (exit, verdict) = interrupted.IsCancellationRequested ? (ExitCode.Interrupted, "interrupted") : (ExitCode.Failed, _runs.Count == 0 ? "the mock server does not come up" : $"the time limit of {options.TimeLimit.TotalSeconds:0} s struck");
        }
        catch (RefusedException refusal)
        {
            _text.WriteLine($"{refusal.Reason}: {refusal.Message}");
            (exit, verdict) = (ExitCode.Refused, refusal.Reason);
        }
        catch (IOException failure)
        {
            (exit, verdict) = (IsUnreachable(failure) ? ExitCode.NoProvider : ExitCode.Failed, failure.Message);
        }

        return Report(comparison, started, exit, verdict);
    }

    private async Task RunAllAsync(ResidentMemory memory, CancellationTokenSource limit, CancellationToken cancellationToken)
    {
        var release = ReleaseContent.Load(options);
        var seeds = new FreshSeeds(options.Seed);
        await using var mock = options.Mock is null ? null : await MockProcess.StartAsync(options.Mock, cancellationToken);
        if (mock is not null && options is { NzbFile: null, Server: null })
            release = await ReleaseContent.PrepareAsync(options, options.Seed, mock.Control, cancellationToken);
        limit.CancelAfter(options.TimeLimit);
        var providers = mock?.Providers(options) ?? options.Providers;
        var narrator = new Narrator(_text, options.Quiet);
        for (var number = 1; number <= options.Runs; number++)
        {
            if (options.Runs > 1)
                narrator.Say($"run {number} of {options.Runs}");
            await using ISubject subject = options.Server is null ? new EngineSubject(options, providers) : new ServerSubject(options, mock?.Control, providers, seeds);
            var run = new RunContext(options, number, release, providers, subject, mock, memory, narrator);
            _runs.Add(run);
            await new TestRun(run).RunAsync(cancellationToken);
            Keep(release, run);
        }
    }

    private void Keep(ReleaseContent release, RunContext run)
    {
        if (options.KeepFolder is not { } folder)
            return;
        Directory.CreateDirectory(folder);
        File.WriteAllBytes(Path.Combine(folder, release.Name + ".nzb"), release.Nzb);
        if (run.MockCounts is { } counts)
            File.WriteAllText(Path.Combine(folder, "mock-stats.json"), counts.Json);
    }

    private int Report(Comparison? comparison, DateTimeOffset started, int exit, string verdict)
    {
        if (_runs.Count == 0)
        {
            error.WriteLine(verdict);
            return exit;
        }

        var set = new RunSet(_runs);
        if (comparison?.Print(_text, set, options.TolerancePercent) == true && exit == ExitCode.Good)
            (exit, verdict) = (ExitCode.Worse, "worse than the earlier run");
        WriteJson(new JsonReport(set, options, _machine, started), exit);
        foreach (var failure in set.Failures)
            _text.WriteLine($"FAILED: {failure}");
        new Summary(set, options, color: isTerminal && !options.NoColor).Write(_text, verdict, exit);
        return exit;
    }

    private void WriteJson(JsonReport report, int exit)
    {
        if (options.JsonFile is null)
            return;
        using var json = new MemoryStream();
        report.Write(json, exit);
        if (options.JsonFile == "-")
            output.WriteLine(Encoding.UTF8.GetString(json.GetBuffer(), 0, (int)json.Length));
        else
            File.WriteAllBytes(options.JsonFile, json.ToArray());
    }

    private static bool IsUnreachable(IOException failure) => failure is NntpException
    {
        Fault: NntpFault.NameNotResolved or NntpFault.ConnectFailed or NntpFault.ConnectTimeout or NntpFault.TlsFailed
            or NntpFault.GreetingRefused or NntpFault.LoginRefused or NntpFault.CertificateRefused or NntpFault.AccountRefused or NntpFault.NoProvider,
    };
}
