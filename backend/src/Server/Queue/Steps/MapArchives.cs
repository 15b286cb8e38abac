using Microsoft.Extensions.Options;
using Sluice.Server.History;
using Sluice.Server.Providers;
using Sluice.Server.Settings;
using Sluice.Usenet.Archives;
using Sluice.Usenet.Media;
using Sluice.Usenet.Par2;
using Sluice.Usenet.Probing;

namespace Sluice.Server.Queue.Steps;

/// <summary>Finds the files in archives, and where in the posted files their bytes lie. What cannot be streamed ends the item here.</summary>
internal sealed class MapArchives(
    ProviderHost providers, IKeyDeriver deriver, IOptionsMonitor<ImportOptions> import, ItemPasswords passwords) : IImportStep
{
    /// <inheritdoc/>
    public string Name => nameof(MapArchives);

    /// <inheritdoc/>
    public int Weight => 35;

    /// <inheritdoc/>
    public async Task<ImportFailure?> RunAsync(ImportWork work, StepProgress progress, CancellationToken cancellationToken)
    {
        var options = import.CurrentValue;
        // PAR2 files that are published are no part of what they protect.
        work.Heads = [.. work.Heads.OrderBy(head => head.Kind == MediaKind.Par2)];
        List<FileHead> heads = [.. work.Heads.TakeWhile(head => head.Kind != MediaKind.Par2)];
        var keys = new ArchiveKeys(PasswordsOf(work, options), deriver);
        var mapper = new ArchiveMapper(providers, providers.Engine, new MappingOptions
        {
            PredictsVolumes = work.MayPredict && options.PredictsVolumes,
            Garbled = work.Suspects.Add,
        });
        var isNamed = work.Names.IsDone;
        var map = await MapAsync(work.Names.Known);
        if (!isNamed && map.Refused.Any(set => set.Fault is ArchiveFault.Broken or ArchiveFault.Incomplete)
            && await work.Names.WaitAsync(cancellationToken) is { IsEmpty: false } names)
        {
            // Only the names of PAR2 may tell the order of these volumes, and it was worth no wait before.
            map = await MapAsync(names);
        }

        work.Map = map;
        progress.Findings = new StepFindings(
            ("files", map.Files.Count), ("sets refused", map.Refused.Count), ("volumes predicted", map.Predicted.Count), ("notes", map.Notes.Count));
        return MapVerdict.Judge(map, heads, providers.ProviderCount);

        Task<ReleaseMap> MapAsync(Par2Matcher names) =>
            mapper.MapAsync(heads, names.IsEmpty ? [] : [.. heads.Select(head => ClaimOf(head, names))], keys, new Share(progress), cancellationToken);
    }

    /// <summary>The passwords that are tried (IMP-57): that of the item, which a client gave or its name brought, those of the NZB, those of the settings.</summary>
    private IReadOnlyList<string> PasswordsOf(ImportWork work, ImportOptions options) =>
    [
        .. work.Read!.Passwords.Prepend(passwords.Require(work.Item.Id, work.Item.Password)).Concat(options.ArchivePasswords)
            .Where(password => password.Length > 0)
            .Distinct(StringComparer.Ordinal),
    ];

    private static Par2Claim ClaimOf(FileHead head, Par2Matcher names)
    {
        var file = names.Find(head.HeadMd5, head.Map?.Length ?? head.Header?.FileSize ?? 0);
        return new Par2Claim(file?.Name, file?.Length);
    }

    private sealed class Share(StepProgress progress) : IProgress<double>
    {
        public void Report(double value) => progress.Report(value);
    }
}
