using Sluice.Server.Library;
using Sluice.Server.Settings;
using Sluice.Usenet.Archives;
using Sluice.Usenet.Media;
using Sluice.Usenet.Par2;
using Sluice.Usenet.Probing;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Server.Queue.Steps;

/// <summary>A file that may be published: what it is made of, and what may name it.</summary>
/// <param name="Id">The id that it gets.</param>
/// <param name="Length">Its length in bytes.</param>
/// <param name="Kind">What it is by its first bytes.</param>
/// <param name="Names">What may name it.</param>
/// <param name="ETag">Its validator.</param>
/// <param name="Content">What it is made of.</param>
internal sealed record PlannedFile(Guid Id, long Length, MediaKind Kind, NameRequest Names, string ETag, FileContent Content);

/// <summary>What a release is made of, before it has names.</summary>
/// <remarks>Immutable.</remarks>
internal sealed class ReleasePlan
{
    private readonly Dictionary<int, StoredPostedFile> _posted = [];

    private ReleasePlan(IReadOnlyList<PlannedFile> files) => Files = files;

    /// <summary>The files that may be published.</summary>
    public IReadOnlyList<PlannedFile> Files { get; }

    /// <summary>Puts together what the steps have found.</summary>
    /// <param name="map">What the release brings.</param>
    /// <param name="heads">The heads that it speaks of, then PAR2 files.</param>
    /// <param name="targets">The entries of the NZB that the heads speak of.</param>
    /// <param name="names">What the PAR2 indexes say.</param>
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

    /// <summary>The posted files that some contents lie in, by number.</summary>
    public IReadOnlyList<StoredPostedFile> PostedFilesOf(IEnumerable<FileContent> contents)
    {
        var used = contents.SelectMany(content => content.Extents.Select(extent => extent.PostedFile)).ToHashSet();
        // Of a set of which one volume is predicted all that are predicted are kept, because one is proved by the others.
        var sets = used.Select(ordinal => _posted[ordinal].Predicted?.Set).OfType<int>().ToHashSet();
        return [.. _posted.Values.Where(file => used.Contains(file.Ordinal) || (file.Predicted is { } volume && sets.Contains(volume.Set))).OrderBy(file => file.Ordinal)];
    }

    // A companion without its last article has no map that could be believed.
    private static bool IsWhole(MappedFile file, IReadOnlyList<FileHead> heads) =>
        file.InnerPath is not null || file.Extents.All(extent => ProbeVerdict.IsUsable(heads[extent.Posted]));

    /// <summary>The posted files of a release, described once they are needed.</summary>
    private sealed class PostedFiles(ReleaseMap map, IReadOnlyList<FileHead> heads, IReadOnlyList<PostedEntry> targets)
    {
        private readonly Dictionary<int, PredictedVolume> _predicted = map.Predicted.ToDictionary(volume => volume.Posted);

        /// <summary>Every one that a file lies in, and every predicted one.</summary>
        public IEnumerable<StoredPostedFile> Used =>
            Enumerable.Range(0, heads.Count).Where(i => MapOf(i) is not null).Select(i => Store(i, MapOf(i)!));

        public PlannedFile Plan(MappedFile file, Par2Matcher names)
        {
            var head = heads[file.NamedBy];
            var yenc = head.Header?.Name;
            // The description of a set of pieces is that of the file that was cut.
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

/// <summary>A release as it is about to be published.</summary>
/// <param name="Folder">Its category folder.</param>
/// <param name="Name">Its own folder, free in that.</param>
/// <param name="Files">Its files.</param>
/// <param name="Kinds">What each of them is.</param>
/// <param name="Sources">Where their names come from, in words.</param>
/// <param name="Lack">What it lacks that it cannot be published without.</param>
internal sealed record NamedRelease(
    string Folder, string Name, IReadOnlyList<NewLibraryFile> Files, IReadOnlyList<MediaKind> Kinds, string Sources, ReleaseLack Lack)
{
    /// <summary>The files that can be played.</summary>
    public IReadOnlyList<StrmTarget> Media =>
    [
        .. Files.Where((file, i) => NameJudge.CategoryOf(file.Path, Kinds[i]) is MediaCategory.Video or MediaCategory.Audio)
            .Select(file => new StrmTarget(file.Id, file.Path)),
    ];

    /// <summary>Names the files of a plan, and leaves out those that the settings do not want (IMP-70, IMP-71).</summary>
    /// <param name="plan">The plan.</param>
    /// <param name="item">The item as it is now.</param>
    /// <param name="title">What the release is called; names files that have no name of their own.</param>
    /// <param name="name">Name of its folder.</param>
    /// <param name="options">The settings.</param>
    /// <param name="showsPar2">Whether PAR2 files are published.</param>
    /// <param name="windowsSafe">Whether names are cleaned for Windows as well.</param>
    public static NamedRelease Of(
        ReleasePlan plan, QueueItem item, string title, string name, ImportOptions options, bool showsPar2, bool windowsSafe)
    {
        var names = FileNamer.Name(title, [.. plan.Files.Select(file => file.Names)], windowsSafe);
        var isExempt = options.MediaExemptCategories.Any(
            category => category.Equals(item.Category, StringComparison.OrdinalIgnoreCase) || category.Equals(item.Folder, StringComparison.OrdinalIgnoreCase));
        List<int> wanted = [.. Enumerable.Range(0, names.Count).Where(i => !names[i].IsRefused)];
        var verdict = ReleaseFilter.Judge(
            [.. wanted.Select(i => new FilterFile(names[i].Path, plan.Files[i].Kind, plan.Files[i].Length) { Original = names[i].Original })],
            new FilterRules
            {
                Release = title,
                Blocklist = options.Blocklist,
                DropsSamples = options.LeavesOutSamples,
                NeedsMedia = options.RequiresMedia && !isExempt,
                RefusesSamples = options.RequiresMedia,
                ShowsPar2 = showsPar2,
            });
        List<int> published = [.. wanted.Where((_, at) => verdict.Files[at] == FilterOutcome.Published)];
        return new NamedRelease(
            item.Folder,
            name,
            [.. published.Select(i => Describe(plan.Files[i], names[i]))],
            [.. published.Select(i => plan.Files[i].Kind)],
            string.Join(", ", published.Select(i => names[i].Source).Distinct().Order()),
            verdict.Lack);
    }

    private static NewLibraryFile Describe(PlannedFile file, FileName name) => new(
        file.Id, name.Path, name.Original == name.Name ? null : name.Original, file.Length, file.ETag, file.Content);
}
