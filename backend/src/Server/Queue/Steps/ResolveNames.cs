using Sluice.Server.History;
using Sluice.Server.Providers;
using Sluice.Usenet.Media;
using Sluice.Usenet.Par2;
using Sluice.Usenet.Probing;
using Sluice.Usenet.Streams.Maps;

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
        List<FileHead> known = [.. work.Heads.Where(head => head is { Kind: MediaKind.Par2, State: HeadState.Found })];
        var indexes = Par2Name.Indexes([.. known.Select(head => new PostedPar2(head.Subject.FileName, Par2Name.SetIdOf(head.FirstBytes.Span), head.Ids.Count))]);
        var names = Par2Names.Start(providers, [.. indexes.Select(i => known[i].ToPostedFile()).OfType<PostedFile>()], time);
        await work.TakeAsync(names);
        progress.Findings = new StepFindings(("indexes", names.Count));
        return null;
    }
}
