using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Usenet.Archives;
using Sluice.Usenet.Media;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;

namespace Sluice.Tools.FullNzbTester.Checks;

/// <summary>A file of the release as the import found it, posted directly or inside archives, with its expected bytes.</summary>
/// <param name="Extents">Its slices of posted files in order; empty if only a server knows them.</param>
/// <param name="Articles">The articles of its bytes, in order.</param>
internal sealed record TestedFile(string Name, string NameSource, MediaKind Kind, IReadOnlyList<FileExtent> Extents, IReadOnlyList<TestedArticle> Articles)
{
    /// <summary>Decrypts the file; null if it is not encrypted.</summary>
    public StreamCipher? Cipher { get; init; }

    /// <summary>Predicted volumes of the release, by set. Each session verifies them again before it reads them.</summary>
    public IReadOnlyList<IReadOnlyList<PredictedFile>> Predicted { get; init; } = [];

    /// <summary>Creates the expected bytes; null for a real post, because its bytes are unknown.</summary>
    public Func<Truth>? NewTruth { get; init; }

    /// <summary>Returns the expected bytes of the posted file that contains a given article of the mock.</summary>
    public Func<MockMessageId, Truth>? TruthOfPosted { get; init; }

    /// <summary>Article boundaries as offsets in this file.</summary>
    public required SegmentMap Map { get; init; }

    public long Length => Map.Length;

    public bool KnowsArticles => Articles.Count > 0;

    /// <summary>Bytes before a hole that are lost with it, because their AES block ends inside the hole.</summary>
    public int LostBeforeHole => Cipher is null ? 0 : StreamCipher.BlockLength - 1;

    /// <summary>Numbers of the posted files that contain this file, as the mock counts them.</summary>
    public IReadOnlyList<int> PostedFiles { get; } =
        [.. Articles.Where(article => !article.Id.IsEmpty).Select(article => MockMessageId.TryParse(article.Id.ToString(), out var made) ? made.File : -1).Where(file => file >= 0).Distinct()];

    /// <summary>Creates a file whose bytes are slices of posted files.</summary>
    /// <param name="slices">The slices, each with the articles of the whole posted file.</param>
    /// <param name="length">Bytes of the file. Encrypted slices are padded, so they hold a few more.</param>
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

    /// <summary>Offset at which reading can resume after a missing article. An encrypted file needs one whole block before it.</summary>
    public long BehindHole(int segment)
    {
        var end = Map[segment].Begin + Map[segment].Length;
        return Cipher is null ? end : StreamCipher.Padded(end) + StreamCipher.BlockLength;
    }

    /// <summary>Returns the first article from <paramref name="from"/> on with this index in its posted file; <paramref name="from"/> if none.</summary>
    public int FindArticle(int from, int place)
    {
        for (var index = from; index < Articles.Count; index++)
        {
            if (Articles[index].Place == place)
                return index;
        }

        return from;
    }

    /// <summary>Encoded size of the articles in a range, as the NZB claims it.</summary>
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

/// <summary>An article that contains bytes of a file.</summary>
/// <param name="Id">Its primary id; empty if the article was never posted.</param>
/// <param name="Place">0-based index in its posted file.</param>
/// <param name="EncodedSize">Size claimed by the NZB; only a hint.</param>
internal readonly record struct TestedArticle(MessageId Id, int Place, int EncodedSize);
