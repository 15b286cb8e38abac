using System.Diagnostics.CodeAnalysis;
using Sluice.Testing;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>
/// Share of articles judged late on a faultless line (F11): twenty connections share the rate on a manual clock, and each answer begins
/// a round trip after its command, plus or minus its jitter.
/// </summary>
public sealed class CleanLineTests
{
    private const int Connections = 20;
    private const int Articles = 4_000;
    private const int ArticleBytes = 740_000;

    // The mock divides its bandwidth at this granularity.
    private static readonly TimeSpan Tick = TimeSpan.FromMilliseconds(10);

    private readonly ManualTimeProvider _clock = new();
    private readonly Random _random = new(4);
    private readonly SharedResources _shared;
    private readonly LineEstimate _provider;
    private int _asked;
    private int _ended;
    private int _late;

    public CleanLineTests() => (_shared, _provider) = (TestResources.Of(new NntpOptions(), _clock), new LineEstimate(_clock));

    [Theory]
    [InlineData(50, 10, 300)]
    [InlineData(50, 10, 1000)]
    [InlineData(50, 10, 6000)]
    [InlineData(150, 30, 300)]
    [InlineData(150, 30, 6000)]
    [InlineData(10, 2, 100)]
    public void F11_Healthy_line_has_at_most_one_late_article_in_1000(int latency, int jitter, int megabits)
    {
        Play(latency, jitter, megabits, stalls: 0);
        Assert.InRange(_late, 0, Articles / 1000);
    }

    [Fact]
    public void F11_Every_stall_is_detected_with_few_false_alarms()
    {
        Play(latency: 50, jitter: 10, megabits: 300, stalls: 100);
        Assert.InRange(_late, Articles / 100, (Articles / 100) + (Articles / 1000));
    }

    /// <summary>Plays all articles; one in <paramref name="stalls"/> stalls in its middle until it is judged late, and then continues.</summary>
    private void Play(int latency, int jitter, int megabits, int stalls)
    {
        var lines = Enumerable.Range(0, Connections).Select(_ => new Line(this)).ToArray();
        var share = (int)(megabits * 125_000L * Tick.TotalSeconds / Connections);
        while (_ended < Articles)
        {
            foreach (var line in lines)
            {
                line.Fill(() => TimeSpan.FromMilliseconds(latency + _random.Next(-jitter, jitter + 1)), stalls);
                line.Receive(share);
            }

            // A check can happen at any time in between; none is earlier than this.
            foreach (var line in lines)
                line.Look();
            _clock.Advance(Tick);
        }
    }

    [SuppressMessage("Design", "CA1001:Types that own disposable fields should be disposable", Justification = "Its timer is on a clock that goes with the test.")]
    private sealed class Line
    {
        private const int Depth = 4;

        private readonly CleanLineTests _test;
        private readonly PendingReplies _sent = new();
        private readonly Queue<Answer> _answers = new();
        private readonly LineEstimate _estimate;
        private readonly ConnectionClock _clock;
        private Answer? _lastLate;

        public Line(CleanLineTests test)
        {
            _test = test;
            _estimate = new LineEstimate(test._clock, test._provider);
            _clock = new ConnectionClock(_sent, _estimate, test._shared, hasUnread: () => false, isOfTheFloor: () => false, act: _ => { });
        }

        public void Fill(Func<TimeSpan> roundTrip, int stalls)
        {
            while (_answers.Count < Depth && _test._asked < Articles)
            {
                var number = ++_test._asked;
                var now = _test._clock.GetTimestamp();
                var request = new ArticleRequest(MessageId.Parse($"{number}@t"), OperationLane.Playback, ExpectedBytes: ArticleBytes);
                var body = new ArticleBody(new ConnectionLease(request), new CollectingSink()) { SentAt = now };
                Assert.True(_sent.TryAdd(body, out var isFirst));
                _answers.Enqueue(new Answer(now, now + roundTrip().Ticks, isFirst) { Stalls = stalls > 0 && number % stalls == 0 });
            }
        }

        public void Receive(int share)
        {
            var now = _test._clock.GetTimestamp();
            while (share > 0 && _answers.TryPeek(out var answer) && answer.BeginsAt <= now && !(answer.Stalls && answer.Left <= ArticleBytes / 2))
            {
                if (answer.Left == ArticleBytes)
                {
                    if (answer.WasFirst)
                        _estimate.ObserveRoundTrip(answer.SentAt);
                    _clock.Heard(now);
                }

                var bytes = Math.Min(share, answer.Left);
                answer.Left -= bytes;
                share -= bytes;
                _clock.Received(bytes, now);
                if (answer.Left > 0)
                    continue;
                _clock.Ended();
                Assert.True(_sent.TryRemove(now, out _));
                _answers.Dequeue();
                _test._ended++;
            }
        }

        public void Look()
        {
            if (!_clock.IsLate(out _) || !_answers.TryPeek(out var answer) || answer == _lastLate)
                return;
            _lastLate = answer;
            answer.Stalls = false;
            _test._late++;
        }
    }

    private sealed class Answer(long sentAt, long beginsAt, bool wasFirst)
    {
        public long SentAt => sentAt;

        public long BeginsAt => beginsAt;

        public bool WasFirst => wasFirst;

        public bool Stalls { get; set; }

        public int Left { get; set; } = ArticleBytes;
    }
}
