using Sluice.Usenet.Media;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Tools.FullNzbTester.Checks;

/// <summary>A file of the release as the import found it, with its expected bytes.</summary>
/// <param name="Name">Name that it gets.</param>
/// <param name="NameSource">Where the name comes from.</param>
/// <param name="Kind">What it is.</param>
/// <param name="Posted">Map and ids.</param>
/// <param name="Ids">The primary ids once more, where nothing has to be awaited for them; none where only a server knows them.</param>
/// <param name="EncodedSizes">Size of each article as the NZB claims it; a hint, and none where the ids are not known.</param>
/// <param name="Content">What its bytes have to be; null for a real post, whose bytes are unknown.</param>
internal sealed record TestedFile(string Name, string NameSource, MediaKind Kind, PostedFile Posted, IReadOnlyList<MessageId> Ids, IReadOnlyList<int> EncodedSizes, ExpectedContent? Content)
{
    /// <summary>Bytes of the file.</summary>
    public long Length => Map.Length;

    /// <summary>Where its articles begin and end.</summary>
    public SegmentMap Map => Posted.Map;

    /// <summary>Encoded bytes of the articles that a range touches, as far as the NZB says.</summary>
    public long EncodedBytes(long begin, long end)
    {
        if (end <= begin || EncodedSizes.Count == 0)
            return 0;
        long sum = 0;
        for (var index = Map.Locate(begin).Index; index <= Map.Locate(end - 1).Index; index++)
            sum += EncodedSizes[index];
        return sum;
    }
}

/// <summary>The truth of one file.</summary>
/// <param name="NewTruth">Makes a comparison for one reader.</param>
/// <param name="File">The file's number in it.</param>
internal sealed record ExpectedContent(Func<Truth> NewTruth, int File);
