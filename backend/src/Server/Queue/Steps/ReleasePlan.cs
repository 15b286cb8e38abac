using Sluice.Server.Library;
using Sluice.Server.Settings;
using Sluice.Usenet.Archives;
using Sluice.Usenet.Media;
using Sluice.Usenet.Par2;
using Sluice.Usenet.Probing;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Server.Queue.Steps;

/// <summary>A file that may be published.</summary>
/// <param name="Length">Length in bytes.</param>
/// <param name="Kind">Media kind, detected from its first bytes.</param>
internal sealed record PlannedFile(Guid Id, long Length, MediaKind Kind, NameRequest Names, string ETag, FileContent Content);

/// <summary>The content of a release before its files are named. Immutable.</summary>
internal sealed class ReleasePlan
{
    private readonly Dictionary<int, StoredPostedFile> _posted = [];

    private ReleasePlan(IReadOnlyList<PlannedFile> files) => Files = files;

    public IReadOnlyList<PlannedFile> Files { get; }

    /// <summary>Combines the results of the steps.</summary>
    /// <param name="heads">The heads that the map refers to, followed by PAR2 files.</param>
    /// <param name="targets">The files of the NZB that the heads refer to.</param>
    public static ReleasePlan Of(ReleaseMap map, IReadOnlyList<FileHead> heads, IReadOnlyList<PostedEntry> targets, Par2Matcher names)
    {
        var previews = Enumerable.Range(map.Maps.Count, heads.Count - map.Maps.Count).Where(i => heads[i] is { Kind: MediaKind.Par2, Map.Length: > 0 });
        List<MappedFile> files =
        [
            .. map.Files.Where(file => file.Method is null && IsWhole(file, heads)),
            .. previews.Select(i => new MappedFile
            {
                NamedBy = i,
                Length = heads[i].Map!.Length,
                Extents = [new PostedExtent(i, 0, heads[i].Map!.Length)],
                Kind = MediaKind.Par2,
            }),
        ];
        var posted = new PostedFiles(map, heads, targets);
        var plan = new ReleasePlan([.. files.Select(file => posted.Plan(file, names))]);
        foreach (var file in posted.Used)
            plan._posted.Add(file.Ordinal, file);
        return plan;
    }

    /// <summary>Returns the posted files that these contents use, by number.</summary>
    public IReadOnlyList<StoredPostedFile> PostedFilesOf(IEnumerable<FileContent> contents)
    {
        var used = contents.SelectMany(content => content.Extents.Select(extent => extent.PostedFile)).ToHashSet();
        // Include all predicted volumes of a used set, because a set is verified as a whole.
        var sets = used.Select(ordinal => _posted[ordinal].Predicted?.Set).OfType<int>().ToHashSet();
        return [.. _posted.Values.Where(file => used.Contains(file.Ordinal) || (file.Predicted is { } volume && sets.Contains(volume.Set))).OrderBy(file => file.Ordinal)];
    }

    // False for a companion whose last article is missing, because its map is unreliable.
    private static bool IsWhole(MappedFile file, IReadOnlyList<FileHead> heads) =>
        file.InnerPath is not null || file.Extents.All(extent => ProbeVerdict.IsUsable(heads[extent.Posted]));

    /// <summary>Creates the descriptions of posted files on demand.</summary>
    private sealed class PostedFiles(ReleaseMap map, IReadOnlyList<FileHead> heads, IReadOnlyList<PostedEntry> targets)
    {
        private readonly Dictionary<int, PredictedVolume> _predicted = map.Predicted.ToDictionary(volume => volume.Posted);

        /// <summary>Posted files with a map.</summary>
        public IEnumerable<StoredPostedFile> Used =>
            Enumerable.Range(0, heads.Count).Where(i => MapOf(i) is not null).Select(i => Store(i, MapOf(i)!));

        public PlannedFile Plan(MappedFile file, Par2Matcher names)
        {
            var head = heads[file.NamedBy];
            var yenc = head.Header?.Name;
            // PAR2 describes the file before it was split, so it can name the joined file.
            var par2 = file.InnerPath is null ? names.Find(head.HeadMd5, file.Length)?.Name : null;
            var hashes = file.Extents.Select(extent => extent.Posted).Distinct().SelectMany(Members).Select(member => member?.IdsHash ?? ContentTag.HashIds([Usenet.Nzb.SegmentIds.None]));
            return new PlannedFile(
                Guid.NewGuid(),
                file.Length,
                file.Kind,
                new NameRequest(head.Subject.FileName, string.IsNullOrEmpty(yenc) ? null : yenc, file.Kind, file.Length)
                {
                    Inner = file.InnerPath,
                    Par2 = par2,
                    IsJoined = file.InnerPath is null && file.Extents.Count > 1,
                },
                ContentTag.Of(hashes, file.InnerPath ?? "", file.Length),
                new FileContent([.. file.Extents.Select(extent => new ContentExtent(OrdinalOf(extent.Posted), extent.Offset, extent.Length))]) { Cipher = file.Cipher });
        }

        private SegmentMap? MapOf(int head) => head < map.Maps.Count ? map.Maps[head] : heads[head].Map;

        private IEnumerable<PostedEntry?> Members(int head) => heads[head].Members.Select(member => member < 0 ? null : targets[member]);

        private int OrdinalOf(int head) => Members(head).First(member => member is not null)!.Ordinal;

        private StoredPostedFile Store(int head, SegmentMap segments)
        {
            var places = SegmentPlaces.Join(Members(head).Select(member => member is null ? (SegmentPlaces.Nowhere, 1) : (member.FirstSegment, member.Segments)));
            return new StoredPostedFile(OrdinalOf(head), places, segments, heads[head].Habit)
            {
                Predicted = _predicted.TryGetValue(head, out var volume) ? volume with { Posted = OrdinalOf(head) } : null,
            };
        }
    }
}

/// <summary>A release ready to be published.</summary>
/// <param name="Sources">Where the file names come from, as text.</param>
/// <param name="Lack">Why the release must not be published; <see cref="ReleaseLack.None"/> if it may.</param>
internal sealed record NamedRelease(
    string Name, string Category, IReadOnlyList<NewLibraryFile> Files, IReadOnlyList<MediaKind> Kinds, string Sources, ReleaseLack Lack)
{
    /// <summary>Folder name of the item in its category, unique among releases.</summary>
    public string Folder { get; init; } = "";

    /// <summary>The earlier release with the same NZB whose files are reused; null for a new release.</summary>
    public Release? Same { get; init; }

    /// <summary>The playable files.</summary>
    public IReadOnlyList<StrmTarget> Media =>
    [
        .. Files.Where((file, i) => NameJudge.CategoryOf(file.Path, Kinds[i]) is MediaCategory.Video or MediaCategory.Audio)
            .Select(file => new StrmTarget(file.Id, file.Path)),
    ];

    /// <summary>Names the files and applies the configured filters (IMP-70, IMP-71).</summary>
    /// <param name="name">Name of the item. Also used for files without their own name.</param>
    public static NamedRelease Of(
        ReleasePlan plan, QueueItem item, string name, ImportOptions options, bool showsPar2, bool windowsSafe)
    {
        var names = FileNamer.Name(name, [.. plan.Files.Select(file => file.Names)], windowsSafe);
        var isExempt = options.MediaExemptCategories.Any(
            category => category.Equals(item.Category, StringComparison.OrdinalIgnoreCase) || category.Equals(item.Folder, StringComparison.OrdinalIgnoreCase));
        List<int> wanted = [.. Enumerable.Range(0, names.Count).Where(i => !names[i].IsRefused)];
        var verdict = ReleaseFilter.Judge(
            [.. wanted.Select(i => new FilterFile(names[i].Path, plan.Files[i].Kind, plan.Files[i].Length) { Original = names[i].Original })],
            new FilterRules
            {
                Release = name,
                Blocklist = options.Blocklist,
                DropsSamples = options.LeavesOutSamples,
                NeedsMedia = options.RequiresMedia && !isExempt,
                RefusesSamples = options.RequiresMedia,
                ShowsPar2 = showsPar2,
            });
        List<int> published = [.. wanted.Where((_, at) => verdict.Files[at] == FilterOutcome.Published)];
        return new NamedRelease(
            name,
            PathKey.OfName(item.Folder),
            [.. published.Select(i => Describe(plan.Files[i], names[i]))],
            [.. published.Select(i => plan.Files[i].Kind)],
            string.Join(", ", published.Select(i => names[i].Source).Distinct().Order()),
            verdict.Lack);
    }

    private static NewLibraryFile Describe(PlannedFile file, FileName name) => new(
        file.Id, name.Path, name.Original == name.Name ? null : name.Original, file.Length, file.ETag, file.Content);
}
