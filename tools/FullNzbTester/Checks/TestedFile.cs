using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Usenet.Archives;
using Sluice.Usenet.Media;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Tools.FullNzbTester.Checks;

/// <summary>A file of the release as the import found it, posted as it is or inside of archives, with its expected bytes.</summary>
/// <param name="Name">Name that it gets.</param>
/// <param name="NameSource">Where the name comes from.</param>
/// <param name="Kind">What it is.</param>
/// <param name="Extents">Its slices of posted files in order; none where only a server knows them.</param>
/// <param name="Articles">The articles that its bytes are in, in order.</param>
internal sealed record TestedFile(string Name, string NameSource, MediaKind Kind, IReadOnlyList<FileExtent> Extents, IReadOnlyList<TestedArticle> Articles)
{
    /// <summary>What decrypts it; null where nothing does.</summary>
    public StreamCipher? Cipher { get; init; }

    /// <summary>Volumes of the release that were predicted, set by set: each session proves them anew before it reads them.</summary>
    public IReadOnlyList<IReadOnlyList<PredictedFile>> Predicted { get; init; } = [];

    /// <summary>Its expected bytes; null for a real post, whose bytes are unknown.</summary>
    public Func<Truth>? NewTruth { get; init; }

    /// <summary>The expected bytes of the posted file that an article of the mock is of.</summary>
    public Func<MockMessageId, Truth>? TruthOfPosted { get; init; }

    /// <summary>Where its articles begin and end, counted in its own bytes.</summary>
    public required SegmentMap Map { get; init; }

    /// <summary>Bytes of the file.</summary>
    public long Length => Map.Length;

    /// <summary>Whether anything is known about its articles.</summary>
    public bool KnowsArticles => Articles.Count > 0;

    /// <summary>Bytes in front of a hole that cannot be had because their block of AES ends behind it.</summary>
    public int LostBeforeHole => Cipher is null ? 0 : StreamCipher.BlockLength - 1;

    /// <summary>Numbers of the posted files that it lies in, as the mock counts them.</summary>
    public IReadOnlyList<int> PostedFiles { get; } =
        [.. Articles.Where(article => !article.Id.IsEmpty).Select(article => MockMessageId.TryParse(article.Id.ToString(), out var made) ? made.File : -1).Where(file => file >= 0).Distinct()];

    /// <summary>A file whose bytes are slices of posted files.</summary>
    /// <param name="name">Name that it gets.</param>
    /// <param name="nameSource">Where the name comes from.</param>
    /// <param name="kind">What it is.</param>
    /// <param name="slices">Its slices, each with the articles of the whole posted file.</param>
    /// <param name="length">Bytes of the file; encrypted slices have some more.</param>
    public static TestedFile Of(string name, string nameSource, MediaKind kind, IReadOnlyList<(FileExtent Extent, IReadOnlyList<TestedArticle> Articles)> slices, long length)
    {
        var (articles, lengths) = (new List<TestedArticle>(), new List<long>());
        var left = length;
        foreach (var (extent, all) in slices)
        {
            for (var at = extent.Offset; at < extent.Offset + extent.Length && left > 0;)
            {
                var segment = extent.File.Map.Locate(at);
                var piece = Math.Min(Math.Min(segment.Begin + segment.Length, extent.Offset + extent.Length) - at, left);
                articles.Add(all[segment.Index]);
                lengths.Add(piece);
                (at, left) = (at + piece, left - piece);
            }
        }

        return new TestedFile(name, nameSource, kind, [.. slices.Select(slice => slice.Extent)], articles) { Map = SegmentMap.FromLengths([.. lengths]) };
    }

    /// <summary>Where reading can go on behind an article that is gone: an encrypted file needs a whole block in front of the first one.</summary>
    public long BehindHole(int segment)
    {
        var end = Map[segment].Begin + Map[segment].Length;
        return Cipher is null ? end : StreamCipher.Padded(end) + StreamCipher.BlockLength;
    }

    /// <summary>The first article from one on that has a place in its posted file; that one itself where there is none.</summary>
    public int FindArticle(int from, int place)
    {
        for (var index = from; index < Articles.Count; index++)
        {
            if (Articles[index].Place == place)
                return index;
        }

        return from;
    }

    /// <summary>Encoded bytes of the articles that a range touches, as far as the NZB says.</summary>
    public long EncodedBytes(long begin, long end)
    {
        if (end <= begin || !KnowsArticles)
            return 0;
        long sum = 0;
        for (var index = Map.Locate(begin).Index; index <= Map.Locate(end - 1).Index; index++)
            sum += Articles[index].EncodedSize;
        return sum;
    }
}

/// <summary>An article that bytes of a file are in.</summary>
/// <param name="Id">Its primary id; empty where it was never posted.</param>
/// <param name="Place">0-based index in its posted file.</param>
/// <param name="EncodedSize">Its size as the NZB claims it; a hint.</param>
internal readonly record struct TestedArticle(MessageId Id, int Place, int EncodedSize);
