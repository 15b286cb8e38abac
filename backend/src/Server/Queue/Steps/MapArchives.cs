using Microsoft.Extensions.Options;
using Sluice.Server.History;
using Sluice.Server.Providers;
using Sluice.Server.Settings;
using Sluice.Usenet.Archives;
using Sluice.Usenet.Media;
using Sluice.Usenet.Par2;
using Sluice.Usenet.Probing;

namespace Sluice.Server.Queue.Steps;

/// <summary>Locates the files inside archives and maps their bytes to the posted files. Fails the import if the content cannot be streamed.</summary>
internal sealed class MapArchives(
    ProviderHost providers, IKeyDeriver deriver, IOptionsMonitor<ImportOptions> import, ItemPasswords passwords) : IImportStep
{
    public string Name => nameof(MapArchives);

    public int Weight => 35;

    public async Task<ImportFailure?> RunAsync(ImportWork work, StepProgress progress, CancellationToken cancellationToken)
    {
        var options = import.CurrentValue;
        // PAR2 files go last, because they are not part of the files that they protect.
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
            // The wait is justified now, because only the PAR2 names may reveal the order of the volumes.
            map = await MapAsync(names);
        }

        work.Map = map;
        progress.Findings = new StepFindings(
            ("files", map.Files.Count), ("sets refused", map.Refused.Count), ("volumes predicted", map.Predicted.Count), ("notes", map.Notes.Count));
        return MapVerdict.Judge(map, heads, providers.ProviderCount);

        Task<ReleaseMap> MapAsync(Par2Matcher names) =>
            mapper.MapAsync(heads, names.IsEmpty ? [] : [.. heads.Select(head => ClaimOf(head, names))], keys, new Share(progress), cancellationToken);
    }

    /// <summary>Passwords to try, in order: from the item, the NZB, then the settings (IMP-57).</summary>
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
