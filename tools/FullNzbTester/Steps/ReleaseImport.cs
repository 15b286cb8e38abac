using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Tools.FullNzbTester.Engine;
using Sluice.Usenet.Archives;
using Sluice.Usenet.Media;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Par2;
using Sluice.Usenet.Probing;
using Sluice.Usenet.Streams.Proof;

namespace Sluice.Tools.FullNzbTester.Steps;

/// <summary>Runs steps 1 to 4 with the classes of the server's import: NZB, heads, PAR2 names, archive maps, names.</summary>
internal sealed class ReleaseImport(ReleaseContent release, EngineSession session, IReadOnlyList<string> passwords, bool skipsArchives)
{
    // First, second and last volume of a set, and its last article.
    private const int HeadsOfSet = 4;

    private readonly NzbHead _head = new();
    private IReadOnlyList<NzbFile> _files = [];
    private IReadOnlyList<FileHead> _heads = [];
    private IReadOnlyList<Par2Index> _indexes = [];

    public int Segments => _files.Sum(file => file.Segments.Count);

    public int PostedFiles => _files.Count;

    /// <summary>Most heads allowed by the import contract (IMP-21): four for a named set, one for a PAR2 file, and two for every other file.</summary>
    public int HeadsAllowed =>
        _heads.Where(head => head.VolumeSet is not null).Select(head => head.VolumeSet).Distinct().Count() * HeadsOfSet
        + _heads.Where(head => head.VolumeSet is null).Sum(head => head.Kind == MediaKind.Par2 ? 1 : Math.Min(2, head.Ids.Count));

    /// <summary>Probe results of the files other than PAR2.</summary>
    public IReadOnlyList<FileHead> Payload => [.. _heads.Where(head => head.Kind != MediaKind.Par2)];

    /// <summary>Contents of the archives; null before they are mapped, and if archives are skipped.</summary>
    public ReleaseMap? Map { get; private set; }

    /// <summary>Reads the NZB and fetches first and last articles.</summary>
    /// <exception cref="RefusedException">The NZB cannot be used.</exception>
    /// <exception cref="NntpException">No provider could be reached.</exception>
    public async Task<ProbeReport> ProbeAsync(CancellationToken cancellationToken)
    {
        _files = await release.ReadFilesAsync(_head, cancellationToken);
        var targets = _files.Select(file => new ProbeTarget(NzbSubject.Parse(file.Subject), new ListedIds([.. file.Segments]), file.Segments.Sum(segment => (long)segment.Bytes)) { Part = file.Part }).ToList();
        var report = await new ReleaseProber(session.Source).ProbeAsync(targets, progress: null, cancellationToken);
        _heads = report.Files;
        return report;
    }

    /// <summary>Reads the PAR2 indexes; empty if the release has none.</summary>
    /// <exception cref="NntpException">No provider could be reached.</exception>
    public async Task<IReadOnlyList<Par2Index>> ReadPar2Async(CancellationToken cancellationToken) =>
        _indexes = await new Par2Lookup(session.Streams).ReadAsync(_heads, cancellationToken);

    /// <summary>PAR2 claims about the files of <see cref="Payload"/>, one for each; empty without an index.</summary>
    public IReadOnlyList<Par2Claim> Claims => Par2Lookup.Match(Payload, _indexes);

    /// <summary>Maps the archives and names the files of the release.</summary>
    /// <exception cref="RefusedException">No file can be read, or a required file is compressed.</exception>
    /// <exception cref="IOException">No provider could be reached.</exception>
    public async Task<IReadOnlyList<TestedFile>> MapAsync(CancellationToken cancellationToken)
    {
        if (skipsArchives)
            return [await FlattenAsync(cancellationToken)];
        var heads = Payload;
        var keys = new ArchiveKeys([.. _head.Passwords.Concat(passwords).Distinct()], new KeyDeriver());
        Map = await new ArchiveMapper(session.Source, session.Streams).MapAsync(heads, Claims, keys, progress: null, cancellationToken);
        MapRefusal.ThrowIfUseless(Map, heads);
        return Describe(Map, heads);
    }

    /// <summary>Returns the file to play: the largest video or audio file, otherwise the largest.</summary>
    public static TestedFile Pick(IReadOnlyList<TestedFile> files) =>
        files.MaxBy(file => (MediaSignature.CategoryOf(file.Kind) is MediaCategory.Video or MediaCategory.Audio, file.Length))!;

    private List<TestedFile> Describe(ReleaseMap map, IReadOnlyList<FileHead> heads)
    {
        var files = map.Files.Where(file => file is { Method: null, Length: > 0 }).ToList();
        var claims = Claims;
        var names = FileNamer.Name(release.Name, [.. files.Select(file => RequestOf(file, heads[file.NamedBy], claims.ElementAtOrDefault(file.NamedBy)))], windowsSafe: true);
        var posted = heads.Select((head, index) => map.Maps[index] is { } segments ? new PostedFile(segments, head.Ids) { Habit = new FileHabit(head.Habit) } : null).ToList();
        var articles = heads.Select(head => new Lazy<IReadOnlyList<TestedArticle>>(() => ArticlesOf(head))).ToList();
        var predicted = PredictedOf(map, posted);
        var tested = new List<TestedFile>();
        for (var i = 0; i < files.Count; i++)
        {
            var slices = files[i].Extents.Select(extent =>
                (new FileExtent(posted[extent.Posted]!, extent.Offset, extent.Length), articles[extent.Posted].Value)).ToList();
            var file = TestedFile.Of(names[i].Path, names[i].Source.ToString(), files[i].Kind, slices, files[i].Length) with { Cipher = files[i].Cipher, Predicted = predicted };
            tested.Add(release.WithTruth(file, files[i].InnerPath));
        }

        return tested;
    }

    private static NameRequest RequestOf(MappedFile file, FileHead head, Par2Claim claim) => new(head.Subject.FileName, head.Header?.Name, file.Kind, file.Length)
    {
        Par2 = file.InnerPath is null && !file.IsJoined ? claim.Name : null,
        Inner = file.InnerPath,
        IsJoined = file.IsJoined,
    };

    /// <summary>Returns the predicted volumes by set.</summary>
    private static List<IReadOnlyList<PredictedFile>> PredictedOf(ReleaseMap map, List<PostedFile?> posted) =>
    [
        .. map.Predicted.GroupBy(volume => volume.Set)
            .Select(set => set.OrderBy(volume => volume.Place).Select(volume => new PredictedFile(volume, posted[volume.Posted]!)).ToList()),
    ];

    /// <summary>Concatenates all posted files in name order, without reading archives.</summary>
    private async Task<TestedFile> FlattenAsync(CancellationToken cancellationToken)
    {
        var ordered = Payload.OrderBy(head => head.Subject.FileName, StringComparer.Ordinal).ToList();

        // Empty names, so that the probe skips no file as a volume of a set.
        var targets = ordered.Select(head => new ProbeTarget(NzbSubject.Parse(""), head.Ids, head.EncodedBytes)).ToList();
        var heads = (await new ReleaseProber(session.Source).ProbeAsync(targets, progress: null, cancellationToken)).Files;
        if (heads.Count != ordered.Count || heads.Any(head => head.Map is null))
            throw new RefusedException("CorruptArticles", "A volume has an article that it cannot do without, and that is gone or damaged at every provider.");
        var slices = heads.Select((head, index) => (FileExtent.Whole(head.ToPostedFile()!), (IReadOnlyList<TestedArticle>)ArticlesOf(ordered[index]))).ToList();
        var flat = TestedFile.Of(ordered[0].Subject.FileName ?? release.Name, "Flat", MediaKind.Unknown, slices, slices.Sum(slice => slice.Item1.Length));
        return release.WithFlatTruth(flat);
    }

    private List<TestedArticle> ArticlesOf(FileHead head)
    {
        var articles = new List<TestedArticle>();
        foreach (var member in head.Members)
        {
            if (member < 0)
                articles.Add(new TestedArticle(default, articles.Count, 0));
            else
                articles.AddRange(_files[member].Segments.Select((segment, place) => new TestedArticle(segment.Ids.Primary, articles.Count + place, segment.Bytes)).ToList());
        }

        return articles;
    }
}
