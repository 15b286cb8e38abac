using System.Buffers;
using System.Globalization;
using System.Text;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

public sealed class CancellationTests
{
    private const int Batch = 3;

    // 7,020 bytes of a batch by three victims are 21,060 places.
    private const int AnswerBytes = 2_340;

    private static readonly byte[][] Answers = [.. Enumerable.Range(0, Batch).Select(Answer)];

    /// <summary>
    /// A pipelined batch comes in up to each byte of it, one of the three fetches is given up there, and the rest follows. The
    /// other two must be right every time, and the connection must end where the answers do.
    /// </summary>
    [Fact]
    public void F07_Giving_up_at_every_byte_of_a_pipelined_batch_leaves_the_other_articles_right()
    {
        byte[] wire = [.. Answers.SelectMany(answer => answer), .. "400 next"u8];
        var places = 0;
        for (var at = 0; at <= Batch * AnswerBytes; at++)
        {
            for (var victim = 0; victim < Batch; victim++, places++)
            {
                var line = new LineEstimate(TimeProvider.System);
                var sent = new PendingReplies();
                var sinks = Answers.Select(_ => new RawSink()).ToArray();
                var bodies = sinks.Select((sink, i) => BodyOf(RequestOf(i), sink)).ToArray();
                foreach (var body in bodies)
                    Assert.True(sent.TryAdd(body, out _));
                var ended = new List<PendingReply>();
                void End(PendingReply reply)
                {
                    ended.Add(reply);
                    if (reply.TryClose())
                        reply.Complete(ReplyOutcome.Delivered);
                }

                var silence = new ReplySilence(() => false, sent, line, new StragglerPolicy(new NntpOptions()), new NntpOptions(), TimeProvider.System);
                var receiver = new ReplyReceiver(sent, silence, new NntpOptions(), line, TimeProvider.System);

                // As the read loop does it: what was not used comes again, with more behind it.
                var buffer = new ReadOnlySequence<byte>(wire, 0, at);
                receiver.Process(ref buffer, buffer.Length, End);
                var abandoned = bodies[victim].TryAbandon(TestContext.Current.CancellationToken);
                var taken = sinks[victim].Received;
                var used = at - (int)buffer.Length;
                buffer = new ReadOnlySequence<byte>(wire, used, wire.Length - used);
                receiver.Process(ref buffer, buffer.Length, End);

                Assert.Equal(bodies, ended);
                Assert.True(sent.IsEmpty);
                Assert.Equal("400 next"u8.Length, buffer.Length);
                Assert.Equal(at < (victim + 1) * AnswerBytes, abandoned);
                for (var i = 0; i < Batch; i++)
                {
                    // A fetch that was given up takes nothing more; every other one has all of its own.
                    var expected = i == victim && abandoned ? taken : AnswerBytes - HeaderOf(i).Length;
                    Assert.True(sinks[i].Received == expected && !sinks[i].IsWrong(i), $"article {i} with {victim} given up at {at}");
                }
            }
        }

        Assert.InRange(places, 20_000, int.MaxValue);
    }

    private static ArticleBody BodyOf(ArticleRequest request, IArticleSink sink)
    {
        var body = new ArticleBody();
        body.Begin(request, sink, 0);
        return body;
    }

    private static ArticleRequest RequestOf(int article) => new(MessageId.Parse($"{article}@t"), OperationLane.Playback, ExpectedBytes: AnswerBytes);

    private static string HeaderOf(int article) => $"222 0 <{article}@t>\r\n";

    /// <summary>Lines that look like ends and like answers, so that a reader that is out of step by any byte takes them for such.</summary>
    private static byte[] Answer(int article)
    {
        var text = new StringBuilder(HeaderOf(article));
        while (text.Length < AnswerBytes - 60)
            text.Append(CultureInfo.InvariantCulture, $"222 0 <{(article + text.Length) % Batch}@t>\r\n..\r\n430 x\r\n");
        text.Append('x', AnswerBytes - text.Length - 5).Append("\r\n.\r\n");
        return Encoding.ASCII.GetBytes(text.ToString());
    }

    /// <summary>Compares as the bytes come.</summary>
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
