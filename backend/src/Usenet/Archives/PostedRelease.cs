using Sluice.Usenet.Probing;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Streams.Reading;

namespace Sluice.Usenet.Archives;

/// <summary>The posted files of a release during mapping: the probe's results, and heads fetched on demand.</summary>
/// <remarks>Thread-safe, because only the set that owns an index writes to it.</remarks>
internal sealed class PostedRelease : IVolumeSource, IDisposable
{
    private readonly ReleaseProber _prober;
    private readonly StreamEngine _engine;
    private readonly IReadOnlyList<Par2Claim> _claims;
    private readonly FileHead[] _heads;
    private readonly SegmentMap?[] _maps;
    private readonly PostedInput?[] _inputs;

    // Limits concurrent reads, because each one occupies a stream of the engine.
    private readonly SemaphoreSlim _reads;

    public PostedRelease(ReleaseProber prober, StreamEngine engine, IReadOnlyList<FileHead> heads, IReadOnlyList<Par2Claim> claims, int concurrency)
    {
        (_prober, _engine, _heads, _claims, _reads) = (prober, engine, [.. heads], claims, new SemaphoreSlim(concurrency, concurrency));
        _maps = [.. heads.Select(head => head.Map)];
        _inputs = new PostedInput?[heads.Count];
        Candidates = [.. heads.Select(Describe)];
    }

    public IReadOnlyList<VolumeCandidate> Candidates { get; }

    /// <summary>The segment maps known so far, including predicted maps.</summary>
    public IReadOnlyList<SegmentMap?> Maps => _maps;

    public FileHead this[int posted] => _heads[posted];

    public Task ContinueAsync(IReadOnlyList<int> indexes, CancellationToken cancellationToken) =>
        ContinueAsync([.. indexes.Where(index => _heads[index].State == HeadState.Skipped)], isWhole: false, cancellationToken);

    public async Task MeasureAsync(IReadOnlyList<int> indexes, CancellationToken cancellationToken)
    {
        await ContinueAsync([.. indexes.Where(index => !_heads[index].IsConfirmed)], isWhole: true, cancellationToken);
        foreach (var index in indexes.Where(index => _maps[index] is not null))
            _inputs[index] = Open(index, first: default);
    }

    public long? Predict(int index, int like, long? length)
    {
        var file = length ?? ClaimOf(index).Length ?? _maps[like]!.Length;
        var count = _heads[index].Ids.Count;
        var part = count == 1 ? file : _maps[like]![0].Length;
        if (_heads[index].State != HeadState.Skipped || file <= (count - 1) * part || file > count * part || part > SegmentMap.MaxSegmentLength)
            return null;
        _maps[index] = SegmentMap.Uniform(count, part, file);
        return file;
    }

    public bool HasKnownLength(int index) => ClaimOf(index).Length is not null;

    public IArchiveInput Open(int index)
    {
        var head = _heads[index];
        if (head.State is HeadState.Missing or HeadState.Corrupt)
            throw Lost(head.State == HeadState.Corrupt ? ArticleLoss.Corrupt : ArticleLoss.Missing);
        if (head.TooLongToCount is not null)
            throw new ArchiveException(ArchiveFault.Unsupported, "posted without offsets and longer than 64 MiB");
        if (_maps[index] is null)
            throw Lost(head.MissingArticles > 0 ? ArticleLoss.Missing : ArticleLoss.Corrupt);
        return _inputs[index] ??= Open(index, head.FirstBytes);
    }

    public void Dispose() => _reads.Dispose();

    /// <summary>The error if an article with headers is lost.</summary>
    public static ArchiveException Lost(ArticleLoss loss) => loss == ArticleLoss.Corrupt
        ? new ArchiveException(ArchiveFault.Damaged, "an article of its headers is damaged at every provider")
        : new ArchiveException(ArchiveFault.Gone, "an article of its headers is gone at every provider");

    private PostedInput Open(int index, ReadOnlyMemory<byte> first) =>
        new(_engine, _reads, new PostedFile(_maps[index]!, _heads[index].Ids) { Habit = new FileHabit(_heads[index].Habit) }, first, _heads[index].LastBytes);

    private async Task ContinueAsync(int[] indexes, bool isWhole, CancellationToken cancellationToken)
    {
        if (indexes.Length == 0)
            return;
        var heads = await _prober.ContinueAsync([.. indexes.Select(index => _heads[index])], isWhole, cancellationToken);
        for (var i = 0; i < indexes.Length; i++)
            (_heads[indexes[i]], _maps[indexes[i]], _inputs[indexes[i]]) = (heads[i], heads[i].Map, null);
    }

    private Par2Claim ClaimOf(int index) => _claims.Count > 0 ? _claims[index] : default;

    private VolumeCandidate Describe(FileHead head, int index)
    {
        var yenc = head.Header?.Name;
        string?[] names = [ClaimOf(index).Name, head.Subject.FileName, string.IsNullOrEmpty(yenc) ? null : yenc];
        var volume = names.Select(VolumeName.Parse).FirstOrDefault(found => found is not null);
        return new VolumeCandidate(index, names.FirstOrDefault(name => name is not null), volume, head.Kind)
        {
            Length = head.Map?.Length,
            Counter = head.Subject.FileNumber,
            Bytes = head.Map?.Length ?? head.EncodedBytes,
            IsReadable = head.State is HeadState.Found or HeadState.Skipped,
        };
    }
}
