using Sluice.Server.History;
using Sluice.Server.Providers;
using Sluice.Usenet.Media;
using Sluice.Usenet.Par2;
using Sluice.Usenet.Probing;
using Sluice.Usenet.Streams.Proof;

namespace Sluice.Server.Queue.Steps;

/// <summary>Starts reading the PAR2 indexes. Later steps do not wait for them and use the names known so far.</summary>
internal sealed class ResolveNames(ProviderHost providers, TimeProvider time) : IImportStep
{
    public string Name => nameof(ResolveNames);

    public int Weight => 10;

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
