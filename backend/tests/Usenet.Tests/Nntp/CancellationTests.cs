using System.Buffers;
using System.Globalization;
using System.Net.Sockets;
using System.Text;
using Sluice.Testing;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nntp.Wire;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

public sealed class CancellationTests
{
    private const int Batch = 3;

    // 7,020 bytes of a batch times three victims are 21,060 cases.
    private const int AnswerBytes = 2_340;

    private static readonly byte[][] Answers = [.. Enumerable.Range(0, Batch).Select(Answer)];

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    /// <summary>
    /// A pipelined batch arrives up to each byte; one of the three fetches is canceled there, and the rest follows. The other two must be
    /// right every time, and the connection must end at the end of the answers.
    /// </summary>
    [Fact]
    public async Task F07_Cancel_at_any_byte_of_a_batch_keeps_others_intact()
    {
        byte[] wire = [.. Answers.SelectMany(answer => answer), .. "400 next"u8];
        var places = 0;
        var clock = new ManualTimeProvider();
        var pool = new NntpConnectionPool(new ProviderOptions { Name = "wire", Host = "wire", UseTls = false }, TestResources.Of(new NntpOptions(), clock));
        using var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
        for (var at = 0; at <= Batch * AnswerBytes; at++)
        {
            for (var victim = 0; victim < Batch; victim++, places++)
            {
                var connection = new NntpConnection(new NntpTransport(socket, Stream.Null, 1024), login: 0, pool);
                var sent = connection.Sent;
                var sinks = Answers.Select(_ => new RawSink()).ToArray();
                var bodies = sinks.Select((sink, i) => new ArticleBody(new ConnectionLease(RequestOf(i)), sink)).ToArray();
                foreach (var body in bodies)
                    Assert.True(sent.TryAdd(body, out _));
                var ended = new List<ArticleBody>();
                var fetches = bodies.Select(body => FetchAsync(body, ended)).ToArray();

                // As in the read loop, unconsumed bytes are passed again together with more.
                var buffer = new ReadOnlySequence<byte>(wire, 0, at);
                connection.Process(ref buffer, buffer.Length);
                var abandoned = bodies[victim].TryAbandon(Token);
                var taken = sinks[victim].Received;
                var used = at - (int)buffer.Length;
                buffer = new ReadOnlySequence<byte>(wire, used, wire.Length - used);
                connection.Process(ref buffer, buffer.Length);

                Assert.Equal(((long)Batch, (long)Batch), sent.Progress);
                await Task.WhenAll(fetches);
                Assert.Equal(bodies.Where(body => !body.IsAbandoned), ended);
                Assert.True(sent.IsEmpty);
                Assert.Equal("400 next"u8.Length, buffer.Length);
                Assert.Equal(at < (victim + 1) * AnswerBytes, abandoned);
                Assert.All(bodies, body => Assert.Equal(abandoned && body == bodies[victim], body.IsAbandoned));
                for (var i = 0; i < Batch; i++)
                {
                    // A canceled fetch takes no more bytes; every other fetch gets its whole article.
                    var expected = i == victim && abandoned ? taken : AnswerBytes - HeaderOf(i).Length;
                    Assert.True(sinks[i].Received == expected && !sinks[i].IsWrong(i), $"article {i} with {victim} given up at {at}");
                }
            }
        }

        Assert.InRange(places, 20_000, int.MaxValue);
    }

    /// <summary>Waits for a reply and records whether it delivered its article.</summary>
    private static async Task FetchAsync(ArticleBody body, List<ArticleBody> ended)
    {
        try
        {
            if (!(await body.Outcome).IsMiss)
                ended.Add(body);
        }
        catch (OperationCanceledException) when (body.IsAbandoned)
        {
            // The fetch was canceled.
        }
    }

    private static ArticleRequest RequestOf(int article) => new(MessageId.Parse($"{article}@t"), OperationLane.Playback, ExpectedBytes: AnswerBytes);

    private static string HeaderOf(int article) => $"222 0 <{article}@t>\r\n";

    /// <summary>Returns lines that look like ends and answers, so that a reader misaligned by any byte would mistake them for such.</summary>
    private static byte[] Answer(int article)
    {
        var text = new StringBuilder(HeaderOf(article));
        while (text.Length < AnswerBytes - 60)
            text.Append(CultureInfo.InvariantCulture, $"222 0 <{(article + text.Length) % Batch}@t>\r\n..\r\n430 x\r\n");
        text.Append('x', AnswerBytes - text.Length - 5).Append("\r\n.\r\n");
        return Encoding.ASCII.GetBytes(text.ToString());
    }

    /// <summary>Compares the bytes as they arrive.</summary>
    private sealed class RawSink : IArticleSink
    {
        private BodyScanner _scanner;
        private bool _differsFrom0;
        private bool _differsFrom1;
        private bool _differsFrom2;

        public int Received { get; private set; }

        public bool IsWrong(int article) => article switch { 0 => _differsFrom0, 1 => _differsFrom1, _ => _differsFrom2 };

        public void Start(int provider)
        {
            Received = 0;
            _scanner = BodyScanner.AtStart;
        }

        public bool Write(ReadOnlySpan<byte> raw, out int consumed)
        {
            var ended = _scanner.Scan(raw, out consumed);
            _differsFrom0 |= Differs(0, raw[..consumed]);
            _differsFrom1 |= Differs(1, raw[..consumed]);
            _differsFrom2 |= Differs(2, raw[..consumed]);
            Received += consumed;
            return ended;
        }

        private bool Differs(int article, ReadOnlySpan<byte> raw)
        {
            var body = Answers[article].AsSpan(HeaderOf(article).Length);
            return Received + raw.Length > body.Length || !body.Slice(Received, raw.Length).SequenceEqual(raw);
        }
    }
}
