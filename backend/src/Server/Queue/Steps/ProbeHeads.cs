using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Providers;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Probing;

namespace Sluice.Server.Queue.Steps;

/// <summary>Asks for first and last articles: what each file is, and where its bytes live. Damage that a file cannot do without ends the item here.</summary>
internal sealed class ProbeHeads(OpenReleases releases, ProviderHost providers, ShownFiles shown) : IImportStep
{
    /// <inheritdoc/>
    public string Name => nameof(ProbeHeads);

    /// <inheritdoc/>
    public int Weight => 35;

    /// <inheritdoc/>
    public async Task<ImportFailure?> RunAsync(ImportWork work, StepProgress progress, CancellationToken cancellationToken)
    {
        using var release = await releases.OpenAsync(work.Item.NzbHash, cancellationToken);
        List<ProbeTarget> targets =
            [.. work.Payload.Select(file => new ProbeTarget(file.Subject, release.Take(SegmentPlaces.Range(file.FirstSegment, file.Segments)), file.EncodedBytes))];
        var report = await new ReleaseProber(providers, new ProbeOptions { IncludesPar2 = shown.HavePar2 }).ProbeAsync(
            targets, new Share(progress, targets.Count), cancellationToken);

        progress.Findings = new StepFindings(
            ("files", report.Files.Count), ("heads", report.HeadsAsked), ("fetches", report.Fetches), ("bytes", report.Bytes));
        if (ProbeVerdict.Judge(report.Files, providers.ProviderCount) is { } failure)
            return failure;

        work.Probed = [.. report.Files.Where(ProbeVerdict.IsUsable).Select(file => Describe(file, work.Payload))];
        return null;
    }

    private static ProbedEntry Describe(FileHead file, IReadOnlyList<PostedEntry> payload)
    {
        var members = file.Members.Select(member => member < 0 ? null : payload[member]).ToList();
        var name = file.Header?.Name;
        return new ProbedEntry(
            members.First(member => member is not null)!.Ordinal,
            SegmentPlaces.Join(members.Select(member => member is null ? (SegmentPlaces.Nowhere, 1) : (member.FirstSegment, member.Segments))),
            [.. members.Select(member => member?.IdsHash ?? ContentTag.HashIds([SegmentIds.None]))],
            file.Subject.FileName,
            string.IsNullOrEmpty(name) ? null : name,
            file.Kind,
            file.Map,
            file.Habit);
    }

    // IProgress of the framework would report on another thread, behind the end of the step.
    private sealed class Share(StepProgress progress, int files) : IProgress<int>
    {
        public void Report(int value) => progress.Report((double)value / files);
    }
}
