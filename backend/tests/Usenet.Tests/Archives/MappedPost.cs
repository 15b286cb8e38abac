using System.Collections.Concurrent;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Tools.MockNntpServer.Layouts;
using Sluice.Usenet.Archives;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Probing;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Proof;
using Xunit;

namespace Sluice.Usenet.Tests.Archives;

/// <summary>A release of the mock, probed and mapped over the wire, with the streams of its files.</summary>
internal sealed class MappedPost : IPredictionOwner, IAsyncDisposable
{
    private readonly ConcurrentDictionary<PredictedVolume, int> _proved = new();
    private int _restarts;

    private MappedPost(EngineHost host, ProbeReport probe, ReleaseMap map, long bodies)
    {
        (Host, Probe, Map, Bodies) = (host, probe, map, bodies);
        Predicted = new PredictedVolumes(host.Pool, this, TimeProvider.System);
    }

    public EngineHost Host { get; }

    public ProbeReport Probe { get; }

    public ReleaseMap Map { get; }

    /// <summary>Articles fetched to probe and map the release.</summary>
    public long Bodies { get; }

    /// <summary>Articles requested so far.</summary>
    public long BodiesNow => Host.Mock.Stats.CommandCount("BODY");

    public PredictedVolumes Predicted { get; private set; }

    public List<object> Refuted { get; } = [];

    /// <summary>The proved volumes, each with the number of reports.</summary>
    public IReadOnlyDictionary<PredictedVolume, int> Proved => _proved;

    /// <summary>How often a reader began to wait for heads of other volumes.</summary>
    public int Sought { get; private set; }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public static async Task<MappedPost> MapAsync(
        MockRelease release, MappingOptions? options = null, StreamOptions? streams = null, IReadOnlyList<MockFault>? faults = null, params string[] passwords)
    {
        var host = await EngineHost.StartAsync(release, streams: streams);
        try
        {
            host.Mock.Post(release);
            if (faults is not null)
                host.Mock.ChangeFaults(faults);
            var probe = await new ReleaseProber(host.Pool).ProbeAsync(await TargetsOfAsync(release), null, Token);
            var claims = Par2Lookup.Match(probe.Files, await new Par2Lookup(host.Engine).ReadAsync(probe.Files, Token));
            var keys = new ArchiveKeys(release.Password is { } password ? [.. passwords, password] : passwords, new KeyDeriver());
            var map = await new ArchiveMapper(host.Pool, host.Engine, options).MapAsync(probe.Files, claims, keys, null, Token);
            return new MappedPost(host, probe, map, host.Mock.Stats.CommandCount("BODY"));
        }
        catch
        {
            await host.DisposeAsync();
            throw;
        }
    }

    /// <summary>Returns the file with a path, or with a posted name if it is plain or joined.</summary>
    public MappedFile File(string path) => Assert.Single(Map.Files, file =>
        (file.InnerPath ?? Probe.Files[file.NamedBy].Subject.FileName ?? "").StartsWith(path, StringComparison.Ordinal));

    public ReadOnlyStream Open(MappedFile file, long position = 0, long? end = null)
    {
        var posted = file.Extents.Select(extent => extent.Posted).Distinct().ToDictionary(index => index, PostedOf);
        var proofs = PredictedFiles().GroupBy(file => file.Volume.Set)
            .SelectMany(set => set.Zip(Predicted.For((this, _restarts, set.Key), [.. set])))
            .ToDictionary(pair => pair.First.Volume.Posted, pair => pair.Second);
        return Host.Engine.Open(
            [.. file.Extents.Select(extent => new FileExtent(posted[extent.Posted], extent.Offset, extent.Length) { Proof = proofs.GetValueOrDefault(extent.Posted) })],
            file.Cipher, file.Length, OperationLane.Playback, position, end);
    }

    /// <summary>Discards everything learned except the proved volumes, as a restart does.</summary>
    public void Restart()
    {
        Predicted = new PredictedVolumes(Host.Pool, this, TimeProvider.System);
        _restarts++;
    }

    /// <summary>Returns the remaining background work for the one set of the release.</summary>
    public BackgroundProof InBackground() => Predicted.InBackground((this, _restarts, 0), PredictedFiles());

    void IPredictionOwner.OnProved(object key, IReadOnlyList<PredictedVolume> volumes)
    {
        foreach (var volume in volumes)
            _proved.AddOrUpdate(volume, 1, static (_, times) => times + 1);
    }

    void IPredictionOwner.OnRefuted(object key) => Refuted.Add(key);

    void IPredictionOwner.OnSought(object key) => Sought++;

    public async Task<byte[]> ReadAsync(MappedFile file, long offset, int count)
    {
        await using var stream = Open(file, offset, offset + count);
        var read = new byte[count];
        await stream.ReadExactlyAsync(read, Token);
        return read;
    }

    /// <summary>Fails unless every file of the release is found and equals the truth byte by byte.</summary>
    public async Task AssertReadsAsPostedAsync()
    {
        Assert.True(Map.Refused.Count == 0, string.Join("; ", Map.Refused));
        foreach (var entry in Host.Release.Entries)
        {
            var file = FileOf(entry);
            Assert.Equal(entry.Bytes.Length, file.Length);
            Assert.True((await ReadAsync(file, 0, (int)file.Length)).AsSpan().SequenceEqual(entry.Bytes.ToArray()), $"{entry.Path} is not what was posted");
        }
    }

    /// <summary>Reads and compares a range.</summary>
    public async Task AssertRangeAsync(MockEntry entry, MappedFile file, long offset, int count)
    {
        var truth = new byte[count];
        entry.Bytes.Fill(offset, truth);
        Assert.True((await ReadAsync(file, offset, count)).AsSpan().SequenceEqual(truth), $"{entry.Path}: {count} bytes at {offset} are wrong");
    }

    /// <summary>Returns the mapped file of an entry of the truth.</summary>
    public MappedFile FileOf(MockEntry entry)
    {
        var found = Map.Files.Where(file => file.InnerPath == entry.Path).ToList();
        return found.Count == 1 ? found[0] : Assert.Single(Map.Files, file => file.InnerPath is null && entry.Posted.Contains(file.NamedBy));
    }

    public ValueTask DisposeAsync() => Host.DisposeAsync();

    private IReadOnlyList<PredictedFile> PredictedFiles() =>
        [.. Map.Predicted.Where(volume => !_proved.ContainsKey(volume)).Select(volume => new PredictedFile(volume, PostedOf(volume.Posted)))];

    private PostedFile PostedOf(int index) => new(Map.Maps[index]!, Probe.Files[index].Ids);

    private static async Task<ProbeTarget[]> TargetsOfAsync(MockRelease release)
    {
        var stored = new MemoryStream();
        var writer = new MessageIdListWriter(stored);
        var files = new List<(NzbSubject Subject, int First, int Count, long Bytes)>();
        await foreach (var file in NzbReader.ReadAsync(new MemoryStream(release.ToNzb()), null, new NzbHead(), Token))
            files.Add((NzbSubject.Parse(file.Subject), await writer.AddAsync(file, Token), file.Segments.Count, file.Segments.Sum(segment => segment.Bytes)));
        await writer.CompleteAsync(Token);
        var list = await MessageIdList.OpenAsync(stored, Token);
        return [.. files.Select(file => new ProbeTarget(file.Subject, list.Slice(file.First, file.Count), file.Bytes))];
    }
}
