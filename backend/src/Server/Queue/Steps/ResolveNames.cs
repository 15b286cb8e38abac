using Sluice.Server.History;
using Sluice.Server.Providers;
using Sluice.Usenet.Media;
using Sluice.Usenet.Par2;
using Sluice.Usenet.Probing;

namespace Sluice.Server.Queue.Steps;

/// <summary>Begins to read the PAR2 indexes; the steps behind it go on without waiting, and take the names as far as they are there.</summary>
internal sealed class ResolveNames(ProviderHost providers, TimeProvider time) : IImportStep
{
    /// <inheritdoc/>
    public string Name => nameof(ResolveNames);

    /// <inheritdoc/>
    public int Weight => 10;

    /// <inheritdoc/>
    public async Task<ImportFailure?> RunAsync(ImportWork work, StepProgress progress, CancellationToken cancellationToken)
    {
        // Files that only their first bytes show to be PAR2 come after those that their names do.
        List<FileHead> nameless = [.. work.Heads.Where(head => head.Kind == MediaKind.Par2 && Par2Name.Parse(head.Subject.FileName) is null)];
        var unknown = Par2Name.Indexes([.. nameless.Select(head => new PostedPar2(null, Par2Name.SetIdOf(head.FirstBytes.Span), head.Ids.Count))]);
        List<ProbeTarget> indexes =
        [
            .. work.Sort.Indexes.Select(file => file.ToTarget(work.Ids!)),
            .. unknown.Select(i => new ProbeTarget(nameless[i].Subject, nameless[i].Ids)),
        ];
        var names = Par2Names.Start(providers, indexes, time);
        await work.TakeAsync(names);
        progress.Findings = new StepFindings(("indexes", names.Count));
        return null;
    }
}
