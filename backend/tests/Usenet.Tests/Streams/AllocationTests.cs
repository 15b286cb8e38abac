using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Fetching;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Memory;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Streams.Reading;
using Sluice.Usenet.Tests.Nntp;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>Allocations of steady reading, in connections, decoder, window and stream. The test runs alone while it counts.</summary>
[CollectionDefinition(nameof(AllocationTests), DisableParallelization = true)]
[Collection(nameof(AllocationTests))]
public sealed class AllocationTests
{
#if DEBUG
    // Without optimization every asynchronous call has a state machine on the heap.
    private const int MostBytes = 8 * 1024;
    private const int MostObjects = 60;
#else
    private const int MostBytes = 2048;
    private const int MostObjects = 20;
#endif

    // Load, fetch, attempt, lease, reply and urgency; now and then a permit.
    private const int MostKinds = 7;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(20)]
    [InlineData(8)]
    public async Task A_segment_costs_at_most_two_kilobytes_of_managed_memory(int connections)
    {
        const int Usual = 716_800;
        const int Round = 400;
        const int Rounds = 8;

        // Longer than the reads plus the read-ahead, because at the end of a film nothing more is loaded and the cost would be too low.
        await using var film = new Playing(parts: (2 + Rounds) * Round, Usual, connections);
        await film.ReadAsync(Round);

        // The pools may still grow in one round, but not in every round.
        var least = long.MaxValue;
        for (var round = 0; round < Rounds && least > MostBytes; round++)
        {
            var (bytes, segments) = await film.ReadAsync(Round);
            least = Math.Min(least, bytes / segments);
        }

        TestContext.Current.TestOutputHelper?.WriteLine($"{least} bytes for each segment over {connections} connections");
        Assert.InRange(least, 0, MostBytes);
    }

    [Fact]
    public async Task Segment_allocates_at_most_20_objects_and_7_own_types()
    {
        const int Small = 1000;
        const int Round = 2000;
        const int Rounds = 20;
        const int Telling = 400;
        await using var film = new Playing(parts: (1 + Rounds) * Round, Small, connections: 20);
        await film.ReadAsync(Round);

        using var sampler = new AllocationSampler();
        var (allocated, segments) = (0L, 0);
        for (var round = 0; round < Rounds && sampler.Count < Telling; round++)
        {
            var (bytes, fetched) = await film.ReadAsync(Round);
            (allocated, segments) = (allocated + bytes, segments + fetched);
        }

        await Eventually.HoldsAsync(() => sampler.Count > 0 || allocated < 1_000_000, () => "The runtime says nothing.", Token);
        var objects = sampler.Count == 0 ? 0 : allocated * sampler.ObjectsPerByte / segments;
        var seen = $"{objects:0.0} objects of {allocated / segments} bytes for each segment, mostly {sampler}";
        TestContext.Current.TestOutputHelper?.WriteLine(seen);
        Assert.True(objects <= MostObjects, seen);
        Assert.InRange(sampler.TypesOf("Sluice.Usenet.Nntp", "Sluice.Usenet.Streams.Loading", "Sluice.Usenet.Streams.Proof").Count, 0, MostKinds);
    }

    /// <summary>A reader of a whole film, with connections of its own.</summary>
    private sealed class Playing : IAsyncDisposable
    {
        // As many segments per connection as a fresh installation has with articles of 700 KB.
        private const int SegmentsAhead = 40;

        private readonly byte[] _buffer = new byte[64 * 1024];
        private readonly int _partSize;
        private readonly SteadyPost _post;
        private readonly ScriptedServer _server;
        private readonly ProviderPool _pool;
        private readonly StreamEngine _engine;
        private readonly ReadOnlyStream _stream;

        public Playing(int parts, int partSize, int connections)
        {
            _post = new SteadyPost(parts, partSize);
            _partSize = partSize;
            _server = new ScriptedServer(_post.Serve);
            var account = new ProviderOptions { Name = "steady", Host = "127.0.0.1", Port = _server.Port, UseTls = false, MaxConnections = connections };
            _pool = new ProviderPool([account], new NntpOptions(), new GlobalOperationLimiter(), TimeProvider.System, NullLoggerFactory.Instance);
            var ahead = SegmentsAhead * BudgetShare.CostOf(partSize);
            _engine = new StreamEngine(_pool, new StreamOptions { ReadAhead = ahead }, TimeProvider.System, NullLoggerFactory.Instance);
            _stream = _engine.Open([FileExtent.Whole(_post.File)], OperationLane.Playback);
        }

        /// <summary>Reads on, and returns the bytes allocated by the process meanwhile and the number of segments loaded.</summary>
        public async Task<(long Bytes, int Segments)> ReadAsync(int parts)
        {
            var (before, begun) = (GC.GetTotalAllocatedBytes(precise: true), _post.Begun);
            for (var left = (long)parts * _partSize; left > 0;)
            {
                var count = await _stream.ReadAsync(_buffer.AsMemory(0, (int)Math.Min(_buffer.Length, left)), Token);
                Assert.True(count > 0);
                left -= count;
            }

            return (GC.GetTotalAllocatedBytes(precise: true) - before, _post.Begun - begun);
        }

        public async ValueTask DisposeAsync()
        {
            await _stream.DisposeAsync();
            await _engine.DisposeAsync();
            await _pool.DisposeAsync();
            await _server.DisposeAsync();
        }
    }
}
