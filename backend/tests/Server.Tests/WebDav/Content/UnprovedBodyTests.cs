using System.Globalization;
using System.Text;
using Microsoft.AspNetCore.Server.Kestrel.Transport.Sockets;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Server.Tests.Database;
using Sluice.Testing;
using Sluice.Testing.WebDav;
using Sluice.Tools.MockNntpServer;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Fetching;
using Sluice.Usenet.Nntp.Health;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Streams.Reading;
using Sluice.Usenet.Yenc;
using Xunit;

namespace Sluice.Server.Tests.WebDav;

/// <summary>A client that pauses on bytes of a corrupt article is disconnected when it reads on, regardless of how long it paused (F18).</summary>
public sealed class UnprovedBodyTests : IDisposable
{
    private const int Part = 700_000;
    private const int Parts = 2;
    private const int Looked = 20_000;
    private const int Flipped = 1_000;

    private readonly TemporaryFolder _folder = new();
    private readonly byte[] _film = PlainNoise();
    private readonly ManualTimeProvider _time = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Theory]
    [InlineData(0, null, true)]
    [InlineData(1, null, true)]
    [InlineData(4, null, true)]
    [InlineData(4, null, false)]
    [InlineData(720, null, true)]
    [InlineData(4, "Range: bytes=0-", true)]
    [InlineData(4, "Range: bytes=0-", false)]
    [InlineData(4, "Range: bytes=0-699999", true)]
    [InlineData(4, "Range: bytes=0-699999", false)]
    [InlineData(4, "Range: bytes=0-699999,700000-1399999", true)]
    [InlineData(4, "Range: bytes=0-699999,700000-1399999", false)]
    public async Task F18_Client_paused_on_a_corrupt_article_is_reset(int tensOfSeconds, string? range, bool isDirect)
    {
        await using var corrupt = await MockServer.StartAsync(new MockOptions
        {
            // So slow that bytes are sent long before the last byte of the article arrives.
            Providers = [new MockProvider { ConnectionBandwidth = 1_500_000 }],
            Spool = Post("corrupt", isCorrupt: true),
        });
        await using var good = await MockServer.StartAsync(new MockOptions { Spool = Post("good", isCorrupt: false) });
        var limiter = new GlobalOperationLimiter();
        await using var pool = new ProviderPool(
            [Account(corrupt, 0), Account(good, 1)],
            new NntpOptions { HedgeEnabled = false },
            limiter,
            TimeProvider.System,
            NullLoggerFactory.Instance,
            new ProviderMemory(TimeProvider.System));
        await using var engine = new StreamEngine(pool, new StreamOptions(), _time, NullLoggerFactory.Instance);
        await using var server = await DavTestServer.StartAsync(services => services.Configure<SocketTransportOptions>(KeepLittle), isDirect: isDirect);
        var file = new PostedFile(SegmentMap.Uniform(Parts, Part, _film.Length), new Ids());
        server.Store.Root.Add(new MemoryFile("film.mkv", _film)
        {
            Opening = (offset, length, _) => ValueTask.FromResult<Stream>(engine.Open([FileExtent.Whole(file)], OperationLane.Playback, offset, offset + length)),
        });

        await using var client = await server.ConnectAsync();
        await client.SendAsync("GET /film.mkv", range is null ? [] : [range]);
        var answer = await client.ReadHeadAsync();
        await client.ReadPartAsync(answer, Looked);
        Assert.Contains((byte)(_film[Flipped] + 1), answer.Body);

        // The client reads nothing until the corrupt article is detected and replaced by a good one.
        while (good.Stats.Articles == 0 || limiter.InUse(OperationLane.Playback) > 0)
            await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System, Token);
        for (var i = 0; i < tensOfSeconds; i++)
            _time.Advance(TimeSpan.FromSeconds(10));

        await client.ReadBodyAsync(answer);
        Assert.False(answer.IsComplete, "complete with a wrong byte");
        Assert.True(answer.WasReset);
    }

    /// <summary>Bytes that need no yEnc escape; the flipped byte's wrong value occurs nowhere else.</summary>
    private static byte[] PlainNoise()
    {
        var bytes = new byte[Part * Parts];
        new Random(5).NextBytes(bytes);
        for (var i = 0; i < bytes.Length; i++)
            bytes[i] = (byte)(100 + (bytes[i] % 64));
        bytes[Flipped] = 180;
        return bytes;
    }

    private static ProviderOptions Account(MockServer server, int priority) =>
        new() { Name = $"mock{priority}", Host = "127.0.0.1", Port = server.Ports[0], UseTls = false, MaxConnections = 4, Priority = priority };

    /// <summary>Limits the send buffers to a few blocks, like the product's listener, so that a paused client is noticed early.</summary>
    private static void KeepLittle(SocketTransportOptions sockets)
    {
        sockets.MaxWriteBufferSize = 64 << 10;
        sockets.CreateBoundListenSocket = endPoint =>
        {
            var socket = SocketTransportOptions.CreateDefaultBoundListenSocket(endPoint);
            socket.SendBufferSize = 64 << 10;
            return socket;
        };
    }

    /// <summary>Writes the articles of the film as posted; if corrupt, a byte of the first is wrong and its checksum is of the right one.</summary>
    private string Post(string name, bool isCorrupt)
    {
        var folder = Directory.CreateDirectory(Path.Combine(_folder.Root, name)).FullName;
        for (var part = 0; part < Parts; part++)
        {
            var data = _film.AsSpan(part * Part, Part).ToArray();
            var crc = Crc32Kernel.Append(0, data);
            if (isCorrupt && part == 0)
                data[Flipped]++;
            var lines = data.Chunk(128).Select(line => Encoding.Latin1.GetString([.. line.Select(each => (byte)(each + 42))]));
            File.WriteAllBytes(Path.Combine(folder, $"{part:0000}.article"), Encoding.Latin1.GetBytes(string.Create(
                CultureInfo.InvariantCulture,
                $"Message-ID: <{part}@film>\r\nSubject: film ({part + 1}/{Parts})\r\n\r\n"
                + $"=ybegin part={part + 1} total={Parts} line=128 size={_film.Length} name=film.mkv\r\n=ypart begin={(part * Part) + 1} end={(part + 1) * Part}\r\n"
                + $"{string.Join("\r\n", lines)}\r\n=yend size={Part} part={part + 1} pcrc32={crc:x8}\r\n")));
        }

        return folder;
    }

    private sealed class Ids : ISegmentIds
    {
        public int Count => Parts;

        public ValueTask<SegmentIds> GetAsync(int index, CancellationToken cancellationToken) => new(new SegmentIds(MessageId.Parse($"{index}@film"), []));
    }
}
