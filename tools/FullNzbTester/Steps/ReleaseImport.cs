using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Usenet.Media;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Probing;

namespace Sluice.Tools.FullNzbTester.Steps;

/// <summary>Steps 1 and 3 as the import of the server does them, with the same classes: NZB, heads, maps, names.</summary>
internal sealed class ReleaseImport(ReleaseContent release, IArticleSource source)
{
    private IReadOnlyList<NzbFile> _files = [];

    /// <summary>Segments that the NZB lists.</summary>
    public int Segments => _files.Sum(file => file.Segments.Count);

    /// <summary>Posted files that the NZB lists.</summary>
    public int PostedFiles => _files.Count;

    /// <summary>Most heads that the import contract allows (IMP-21): first and last article of each file.</summary>
    public int HeadsAllowed => _files.Sum(file => Math.Min(2, file.Segments.Count));

    /// <summary>Reads the NZB and fetches first and last articles.</summary>
    /// <exception cref="RefusedException">It is no NZB that can be used.</exception>
    /// <exception cref="NntpException">No provider could be asked.</exception>
    public async Task<ProbeReport> ProbeAsync(CancellationToken cancellationToken)
    {
        _files = await release.ReadFilesAsync(cancellationToken);

        // Whether the mock can serve it is known before it is asked.
        foreach (var file in _files)
            release.ContentOf(FirstId(file));
        var targets = _files.Select(file => new ProbeTarget(NzbSubject.Parse(file.Subject), new ListedIds([.. file.Segments]), file.Segments.Sum(segment => (long)segment.Bytes))).ToList();
        return await new ReleaseProber(source).ProbeAsync(targets, progress: null, cancellationToken);
    }

    /// <summary>Names the files and keeps what can be read.</summary>
    /// <exception cref="RefusedException">The release is one of archives, or nothing of it can be read.</exception>
    public async Task<IReadOnlyList<TestedFile>> DescribeAsync(ProbeReport report, CancellationToken cancellationToken)
    {
        var payload = report.Files.Where(file => MediaSignature.CategoryOf(file.Kind) != MediaCategory.Par2).ToList();
        if (payload.Find(file => MediaSignature.CategoryOf(file.Kind) == MediaCategory.Archive || file.VolumeSet is not null) is { } archive)
            throw new RefusedException("UnsupportedArchive", $"{(archive.Kind == MediaKind.Unknown ? "Split" : archive.Kind)} archives of this kind cannot be streamed (archives are not mapped yet).");

        var readable = payload.Where(file => file.Map is { Length: > 0 }).ToList();
        if (readable.Count == 0)
            throw Unreadable(payload);

        var names = FileNamer.Name(release.Name, [.. readable.Select(file => new NameRequest(file.Subject.FileName, file.Header?.Name, file.Kind, file.Map!.Length))], windowsSafe: true);
        var files = new List<TestedFile>();
        for (var i = 0; i < readable.Count; i++)
            files.Add(await DescribeAsync(readable[i], names[i], cancellationToken));
        return files;
    }

    /// <summary>The file that is played: the largest of video and audio, else the largest.</summary>
    public static TestedFile Pick(IReadOnlyList<TestedFile> files) =>
        files.MaxBy(file => (MediaSignature.CategoryOf(file.Kind) is MediaCategory.Video or MediaCategory.Audio, file.Length))!;

    private async Task<TestedFile> DescribeAsync(FileHead head, FileName name, CancellationToken cancellationToken)
    {
        var ids = new List<MessageId>(head.Ids.Count);
        for (var index = 0; index < head.Ids.Count; index++)
            ids.Add((await head.Ids.GetAsync(index, cancellationToken)).Primary);
        int[] sizes = [.. head.Members.SelectMany(member => member < 0 ? [0] : _files[member].Segments.Select(segment => segment.Bytes))];
        return new TestedFile(name.Name, name.Source.ToString(), head.Kind, head.ToPostedFile()!, ids, sizes, release.ContentOf(ids.Find(id => !id.IsEmpty)));
    }

    private static MessageId FirstId(NzbFile file) => file.Segments.First(segment => !segment.IsHole).Ids.Primary;

    private static RefusedException Unreadable(List<FileHead> payload)
    {
        var first = payload.FirstOrDefault();
        return first?.State switch
        {
            null => new RefusedException("NoMedia", "The release holds no video or audio file."),
            HeadState.Missing => new RefusedException("DeadPost", $"The post is gone: none of {payload.Count} first articles exists."),
            _ => new RefusedException("CorruptArticles", $"{first.Subject.FileName ?? "A file"}: an article it cannot do without is damaged at every provider."),
        };
    }
}
