using Sluice.Usenet.Probing;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Reading;
using Sluice.Usenet.Streams;

namespace Sluice.Usenet.Archives;

/// <summary>The posted files of a release while it is mapped: what is known of them, and what is asked for besides.</summary>
/// <remarks>Thread-safe: sets are read in parallel, and no posted file belongs to two sets.</remarks>
internal sealed class PostedRelease
{
    private readonly ReleaseProber _prober;
    private readonly StreamEngine _engine;
    private readonly FileHead[] _heads;
    private readonly SegmentMap?[] _maps;
    private readonly PostedInput?[] _inputs;

    /// <param name="prober">Asks for what the first probe has left out.</param>
    /// <param name="engine">Reads headers; not owned.</param>
    /// <param name="heads">What the first probe has found.</param>
    public PostedRelease(ReleaseProber prober, StreamEngine engine, IReadOnlyList<FileHead> heads)
    {
        (_prober, _engine, _heads) = (prober, engine, [.. heads]);
        _maps = [.. heads.Select(head => head.Map)];
        _inputs = new PostedInput?[heads.Count];
    }

    /// <summary>Where the segments of each file live, as far as it is known now; predicted ones included.</summary>
    public IReadOnlyList<SegmentMap?> Maps => _maps;

    /// <summary>What is known of a file.</summary>
    public FileHead this[int posted] => _heads[posted];

    /// <summary>Sees to it that the heads of files are there.</summary>
    /// <exception cref="ArchiveException">One is gone or damaged at every provider, or the articles say too little about where they lie.</exception>
    public async Task RequireHeadsAsync(IReadOnlyList<int> posted, CancellationToken cancellationToken)
    {
        await ContinueAsync([.. posted.Where(index => _heads[index].State == HeadState.Skipped)], isWhole: false, cancellationToken);
        foreach (var index in posted)
            RequireMap(_heads[index]);
    }

    /// <summary>Sees to it that files are measured by their first and last articles, and that nothing of them is taken for true any more that only one article has said.</summary>
    /// <inheritdoc cref="RequireHeadsAsync"/>
    public async Task RequireMeasuredAsync(IReadOnlyList<int> posted, CancellationToken cancellationToken)
    {
        await ContinueAsync([.. posted.Where(index => !_heads[index].IsConfirmed)], isWhole: true, cancellationToken);
        foreach (var index in posted)
        {
            RequireMap(_heads[index]);
            lock (_inputs)
                _inputs[index] = new PostedInput(_engine, _heads[index].ToPostedFile()!, default, _heads[index].LastBytes);
        }
    }

    /// <summary>A file whose head is there.</summary>
    public IArchiveInput Open(int posted)
    {
        lock (_inputs)
            return _inputs[posted] ??= new PostedInput(_engine, _heads[posted].ToPostedFile()!, _heads[posted].FirstBytes, _heads[posted].LastBytes);
    }

    /// <summary>Gives a file that was not looked into the map that it has if it is cut like another one of its set.</summary>
    /// <param name="posted">The file.</param>
    /// <param name="like">The other one.</param>
    /// <param name="length">The length that is predicted for it.</param>
    /// <returns>False where its number of segments does not allow it.</returns>
    public bool TryPredict(int posted, int like, long length)
    {
        var count = _heads[posted].Ids.Count;
        var partSize = _maps[like]![0].Length;
        if (count > 1 && (partSize == 0 || (length + partSize - 1) / partSize != count))
            return false;
        if (count == 1 && length > SegmentMap.MaxSegmentLength)
            return false;
        _maps[posted] = SegmentMap.Uniform(count, count == 1 ? length : partSize, length);
        return true;
    }

    private async Task ContinueAsync(int[] posted, bool isWhole, CancellationToken cancellationToken)
    {
        if (posted.Length == 0)
            return;
        var heads = await _prober.ContinueAsync([.. posted.Select(index => _heads[index])], isWhole, cancellationToken);
        for (var i = 0; i < posted.Length; i++)
            (_heads[posted[i]], _maps[posted[i]]) = (heads[i], heads[i].Map);
    }

    private static void RequireMap(FileHead head)
    {
        if (head.State != HeadState.Found)
            throw Lost(head.State == HeadState.Corrupt ? ArticleLoss.Corrupt : ArticleLoss.Missing);
        if (head.TooLongToCount is { } encoding)
            throw new ArchiveException(ArchiveFault.Unsupported, $"{encoding} without offsets, longer than 64 MiB");
        if (head.Map is null)
            throw Lost(head.MissingArticles > 0 ? ArticleLoss.Missing : ArticleLoss.Corrupt);
    }

    /// <summary>The error of an archive whose headers lie in an article that cannot be had.</summary>
    public static ArchiveException Lost(ArticleLoss loss) => loss == ArticleLoss.Corrupt
        ? new ArchiveException(ArchiveFault.Damaged, "an article of its headers is damaged at every provider")
        : new ArchiveException(ArchiveFault.Gone, "an article of its headers is gone at every provider");
}
