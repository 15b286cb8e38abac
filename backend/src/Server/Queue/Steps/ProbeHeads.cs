using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Providers;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Probing;

namespace Sluice.Server.Queue.Steps;

/// <summary>
/// Fetches the first and last articles of each file to identify the file and locate its bytes. If an essential file is lost, the import fails soon after, even
/// if other files have not been probed.
/// </summary>
internal sealed class ProbeHeads(OpenReleases releases, ProviderHost providers, ShownFiles shown, TimeProvider time) : IImportStep
{
    /// <summary>How long probing continues after the loss of an essential file, so that the reported reason is more precise.</summary>
    public static readonly TimeSpan LossGrace = TimeSpan.FromSeconds(5);

    public string Name => nameof(ProbeHeads);

    public int Weight => 35;

    public async Task<ImportFailure?> RunAsync(ImportWork work, StepProgress progress, CancellationToken cancellationToken)
    {
        var sort = work.Sort;
        var release = await releases.OpenAsync(work.Item.NzbHash, cancellationToken);
        if (work.Item.Retried.HasFlag(RetryKind.AsksEveryone))
            await ForgetMissesAsync(sort.Payload, release, cancellationToken);
        List<ProbeTarget> targets = [.. sort.Targets.Select(file => file.ToTarget(release))];
        var found = new FoundHeads(sort.Segments);
        var options = new ProbeOptions { IncludesPar2 = shown.HavePar2, Found = found.Add, Garbled = work.Suspects.Add };
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);

        // Request the heads before the sample, because only the heads delay the item.
        var probing = new ReleaseProber(providers, options).ProbeAsync(targets, new Share(progress, targets.Count), stop.Token);
        await work.TakeAsync(release, AvailabilitySample.Start(providers, release, SegmentSample.Pick(sort.Payload, AvailabilitySample.MaxArticles)));
        var judges = !work.Item.Retried.HasFlag(RetryKind.IgnoresDamage);
        var report = await ProbeAsync(probing, judges ? Task.WhenAny(found.Loss, work.Sample.Severe) : found.Loss, stop, cancellationToken);
        work.Heads = report?.Files ?? found.All;
        progress.Findings = report is null
            ? new StepFindings(("files", sort.Payload.Count), ("heads", found.All.Count))
            : new StepFindings(("files", report.Files.Count), ("heads", report.HeadsAsked), ("fetches", report.Fetches), ("bytes", report.Bytes));

        var failure = ProbeVerdict.Judge(work.Heads, providers.ProviderCount) ?? (judges && work.Sample.IsComplete ? SampleVerdict.Judge(work.Sample) : null);
        if (failure is not null)
            await NoteGoneAsync(work, cancellationToken);
        return failure;
    }

    /// <summary>Clears the cached misses of these articles, so that providers are asked again.</summary>
    private async Task ForgetMissesAsync(IReadOnlyList<PostedEntry> files, ReleaseUse release, CancellationToken cancellationToken)
    {
        foreach (var file in files)
        {
            var ids = release.Take(file.Places);
            for (var segment = 0; segment < file.Segments; segment++)
            {
                if (await ids.GetAsync(segment, cancellationToken) is { Primary: { IsEmpty: false } primary })
                    providers.ForgetMisses(primary);
            }
        }
    }

    /// <summary>Awaits the probe, but stops it <see cref="LossGrace"/> after the loss. Returns null if the probe was stopped.</summary>
    /// <param name="loss">Completes when an essential file is lost.</param>
    private async Task<ProbeReport?> ProbeAsync(Task<ProbeReport> probing, Task loss, CancellationTokenSource stop, CancellationToken cancellationToken)
    {
        if (await Task.WhenAny(probing, loss) != probing)
        {
            using var enough = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
            await Task.WhenAny(probing, Task.Delay(LossGrace, time, enough.Token));
            await enough.CancelAsync();
            if (!probing.IsCompleted)
                await stop.CancelAsync();
        }

        try
        {
            return await probing;
        }
        catch (Exception e) when (e is OperationCanceledException or NntpException && stop.IsCancellationRequested && !cancellationToken.IsCancellationRequested)
        {
            return null;
        }
    }

    /// <summary>Records the articles whose absence fails the import.</summary>
    private static async Task NoteGoneAsync(ImportWork work, CancellationToken cancellationToken)
    {
        foreach (var head in work.Heads.Where(head => ProbeVerdict.IsLost(head, work.Sort.Segments)).Take(DeadArticles.MaxPerPost))
        {
            var index = head.State == HeadState.Missing ? 0 : head.Ids.Count - 1;
            if (head.MissingArticles > 0 && await head.Ids.GetAsync(index, cancellationToken) is { Primary.IsEmpty: false } ids)
                work.NoteGone(ids.Primary);
        }

        foreach (var id in work.Sample.Missing)
            work.NoteGone(id);
    }

    // .NET's Progress<T> reports on another thread, so a report could arrive after the step.
    private sealed class Share(StepProgress progress, int files) : IProgress<int>
    {
        public void Report(int value) => progress.Report((double)value / files);
    }
}
