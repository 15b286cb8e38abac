using System.Buffers;
using System.Diagnostics;
using System.IO.Pipelines;
using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Server.Library;
using Sluice.Server.Playbacks;
using Sluice.Server.Tests.Layers;
using Sluice.Server.WebDav.Content;
using Sluice.Testing;
using Sluice.Testing.WebDav;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Reading;
using Xunit;

namespace Sluice.Server.Tests;

/// <summary>The section "What a byte meets" of docs/architecture.md matches the code, and the road stays short.</summary>
public sealed class ByteRoadTests
{
    private const int MostClasses = 13;
    private const int MostFiles = 55;

    private static readonly string Page = File.ReadAllText(Repository.PathOf("docs/architecture.md"));
    private static readonly IReadOnlyList<string> Classes = ByteRoad.ClassesOf(Page);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public void A_byte_passes_through_at_most_13_classes() => Assert.InRange(Classes.Count, 10, MostClasses);

    [Fact]
    public void Neighboring_classes_of_the_byte_path_call_each_other()
    {
        var road = Classes.Select(Find).ToList();
        var gaps = road.Zip(road.Skip(1))
            .Where(pair => !CalledMethods.Reach(pair.First, pair.Second) && !CalledMethods.Reach(pair.Second, pair.First))
            .Select(pair => $"{pair.First.Name} and {pair.Second.Name} do not call each other.");
        Assert.Empty(gaps);
    }

    /// <summary>The response records its callers whenever bytes are copied, so no class may come between the listed ones.</summary>
    [Fact]
    public async Task Bytes_reach_the_response_through_the_listed_classes()
    {
        var clip = new BuiltInClip();
        await using var engine = new StreamEngine(clip.Source, new StreamOptions(), TimeProvider.System, NullLoggerFactory.Instance);
        var file = new MemoryFile("a.mkv", []) { Length = clip.File.Length, Opening = (offset, length, _) => ValueTask.FromResult<Stream>(Open(offset, length)) };
        using var output = new TracingWriter();

        var (limit, range) = (TimeSpan.FromSeconds(15), ByteRange.Whole(clip.File.Length));
        await using (var body = await FileBody.OpenAsync(file, range, limit, TimeProvider.System, static () => TimeSpan.MaxValue, Token))
            Assert.True(await body.CopyToAsync(output, direct: null, new ClientProgress(null, limit, TimeProvider.System, Token), limit));

        // A wait for an article splits the call stack in two, so only complete ones count.
        var whole = output.Traces.Where(trace => trace.Contains(nameof(FileBody)) && trace.Contains("SegmentSlot")).ToList();
        var listed = Classes.SkipWhile(name => name != "SegmentSlot").TakeWhile(name => name != nameof(FileBody));
        Assert.NotEmpty(whole);
        Assert.All(whole, trace => Assert.Equal(listed, trace.TakeWhile(name => name != nameof(FileBody))));

        PlayedStream Open(long offset, long length) => new(
            new OpenedFile(engine.Open(clip.Extents, OperationLane.Playback, offset, offset + length), Ids: null),
            played: null,
            new PlaybackStops(TimeProvider.System),
            static () => { },
            offset,
            openedAt: 0,
            TimeProvider.System);
    }

    [Fact]
    public void Files_from_stream_to_socket_match_the_list()
    {
        var drawn = ByteRoad.Draw(ByteRoad.Files(Classes, SourceTree.Product()));
        Assert.True(drawn == ByteRoad.FilesOf(Page), $"docs/architecture.md has to list these files:\n{drawn}");
    }

    [Fact]
    public void Stream_to_socket_path_has_at_most_55_files() =>
        Assert.InRange(ByteRoad.Files(Classes, SourceTree.Product()).Count, 30, MostFiles);

    private static Type Find(string name) =>
        Assert.Single(new[] { typeof(StreamEngine).Assembly, typeof(Program).Assembly }.SelectMany(assembly => assembly.GetTypes()), type => type.Name == name);

    /// <summary>A response whose memory records the calling classes whenever bytes are copied into it.</summary>
    private sealed class TracingWriter : PipeWriter, IDisposable
    {
        private readonly TracingMemory _memory = new();

        public IReadOnlyList<IReadOnlyList<string>> Traces => _memory.Traces;

        public override void Advance(int bytes)
        {
        }

        public override Memory<byte> GetMemory(int sizeHint = 0) => _memory.Memory;

        public override Span<byte> GetSpan(int sizeHint = 0) => new byte[Math.Max(sizeHint, 64 * 1024)];

        public override ValueTask<FlushResult> FlushAsync(CancellationToken cancellationToken = default) => new(new FlushResult());

        public override void CancelPendingFlush()
        {
        }

        public override void Complete(Exception? exception = null)
        {
        }

        public void Dispose() => ((IDisposable)_memory).Dispose();
    }

    private sealed class TracingMemory : MemoryManager<byte>
    {
        private readonly byte[] _bytes = new byte[256 * 1024];

        public List<IReadOnlyList<string>> Traces { get; } = [];

        public override Span<byte> GetSpan()
        {
            Traces.Add([.. new StackTrace().GetFrames().Select(frame => OutermostOf(frame.GetMethod()?.DeclaringType)).Where(IsOfProduct).Select(type => type!.Name).Distinct()]);
            return _bytes;
        }

        public override MemoryHandle Pin(int elementIndex = 0) => throw new NotSupportedException();

        public override void Unpin()
        {
        }

        protected override void Dispose(bool disposing)
        {
        }

        // The state machine of an asynchronous method is a nested type.
        private static Type? OutermostOf(Type? type)
        {
            while (type?.DeclaringType is { } outer)
                type = outer;
            return type;
        }

        // Structs such as the target of a read do not count, because they are values that classes pass on.
        private static bool IsOfProduct(Type? type) =>
            type is { IsClass: true } && (type.Assembly == typeof(StreamEngine).Assembly || type.Assembly == typeof(FileBody).Assembly);
    }
}
