using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Tools.FullNzbTester.Steps;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Usenet.Media;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;

namespace Sluice.Tools.FullNzbTester.Server;

/// <summary>The files of a release as the server lists them, matched with the articles of the NZB.</summary>
internal sealed class PublishedRelease
{
    // Only the server knows the article boundaries of a real post. This typical article size approximates them.
    private const int UsualPart = 716_800;

    private readonly Dictionary<TestedFile, Uri> _urls = new(ReferenceEqualityComparer.Instance);

    private PublishedRelease()
    {
    }

    public IReadOnlyList<TestedFile> Files => [.. _urls.Keys];

    public Uri UrlOf(TestedFile file) => _urls[file];

    /// <summary>Matches the listing with the NZB.</summary>
    /// <exception cref="RefusedException">The NZB is invalid, or the listing has no readable file.</exception>
    /// <exception cref="IOException">The listing does not match the NZB.</exception>
    public static async Task<PublishedRelease> DescribeAsync(ReleaseContent release, IReadOnlyList<DavFile> listing, CancellationToken cancellationToken)
    {
        if (listing.Count == 0)
            throw new RefusedException("NoMedia", "The server lists no file in the folder of the release.");
        var published = new PublishedRelease();
        if (!release.IsCompared)
        {
            foreach (var file in listing.Where(file => file.Length > 0))
                published._urls.Add(Unknown(file), file.Url);
            return published;
        }

        var posted = await release.ReadFilesAsync(new NzbHead(), cancellationToken);
        var files = release.LaidOut is { } laidOut ? OfLayout(release, laidOut, posted) : posted.Select(file => release.WithTruth(OfMock(file)));
        var all = files.ToList();
        foreach (var file in all)
            published._urls.Add(file, Find(file, listing, isOnly: all.Count == 1).Url);
        return published;
    }

    private static DavFile Find(TestedFile file, IReadOnlyList<DavFile> listing, bool isOnly)
    {
        var found = isOnly ? listing : [.. listing.Where(other => other.Name == file.Name)];
        return found is [var one] && one.Length == file.Length
            ? one
            : throw new IOException($"The server does not list {file.Name} with its {file.Length} bytes: {string.Join(", ", listing.Select(other => $"{other.Name} {other.Length}"))}.");
    }

    private static TestedFile OfMock(NzbFile file)
    {
        var (first, slice) = Whole(file);
        return TestedFile.Of(first.Name, "Listing", MediaKind.Unknown, [slice], first.FileSize);
    }

    /// <summary>
    /// Returns the files inside archives. Only the server knows their offsets in the volumes, so they are assumed consecutive and without
    /// headers. This suffices to tell which articles a read needs.
    /// </summary>
    private static IEnumerable<TestedFile> OfLayout(ReleaseContent release, MockRelease laidOut, IReadOnlyList<NzbFile> posted)
    {
        var volumes = posted.Select(Whole).ToDictionary(volume => volume.First.File, volume => volume.Slice);
        return laidOut.Entries.Select(entry => release.WithTruth(
            TestedFile.Of(Path.GetFileName(entry.Path), "Listing", MediaKind.Unknown, [.. entry.Posted.Select(file => volumes[file])], entry.Bytes.Length), entry.Path));
    }

    private static (MockMessageId First, (FileExtent, IReadOnlyList<TestedArticle>) Slice) Whole(NzbFile file)
    {
        var made = file.Segments.Select(segment => MockMessageId.TryParse(segment.Ids.Primary.ToString(), out var id) ? id : null).OfType<MockMessageId>().ToList();
        if (made.Count != file.Segments.Count)
            throw new RefusedException("NotAnNzb", "The NZB has articles that the mock did not make.");
        var whole = new PostedFile(SegmentMap.FromLengths([.. made.Select(id => (long)id.Length)]), new ListedIds([.. file.Segments]));
        return (made[0], (FileExtent.Whole(whole), [.. file.Segments.Select((segment, place) => new TestedArticle(segment.Ids.Primary, place, segment.Bytes))]));
    }

    private static TestedFile Unknown(DavFile file)
    {
        var count = (int)((file.Length + UsualPart - 1) / UsualPart);
        var map = SegmentMap.Uniform(count, Math.Min(UsualPart, file.Length), file.Length);
        return new TestedFile(file.Name, "Listing", MediaKind.Unknown, [], []) { Map = map };
    }
}
