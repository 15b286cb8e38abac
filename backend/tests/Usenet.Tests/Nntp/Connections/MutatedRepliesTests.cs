using System.Buffers;
using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using System.Net.Sockets;
using System.Text;
using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Testing;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nntp.Health;
using Sluice.Usenet.Nntp.Wire;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams.Loading;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Tests.Streams;
using Sluice.Usenet.Yenc;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>
/// Gate G4 for NNTP: replies to a few pipelined commands, damaged in every way, pass through a pool, its connection and the decoder. Every
/// fetch ends, with success or a typed error. No wrong byte is proved, no existing article is remembered as missing, replies before the
/// damage arrive, and no resource is left.
/// </summary>
public sealed class MutatedRepliesTests
{
    private const int Articles = 2_000;

    private static readonly ArticleHabit Habit = new(Carries.Yes, Carries.Yes, Carries.Yes);

    // Low limits, which are cheap to exceed.
    private static readonly NntpOptions Options = new() { MaxLineBytes = 600, MaxArticleBytes = 6_000, ReceiveBufferBytes = 1024 };

    // Longer than every deadline and cooldown.
    private static readonly TimeSpan Ages = TimeSpan.FromMinutes(5);
    private const int MostEvents = 1_000;

    private readonly ConcurrentDictionary<string, int> _ways = [];
    private readonly ConcurrentDictionary<string, int> _ends = [];
    private readonly MutatedArticle[] _articles = [.. Enumerable.Range(0, Articles).Select(seed => new MutatedArticle(seed, longest: 700))];
    private readonly DecoderPool _decoders = new();

    [Fact]
    public Task G4_20000_mutated_pipelines_end_typed_without_wrong_bytes() => RunAsync(20_000, seed: 4);

    [Fact]
    [Trait("Category", "Long")]
    public Task G4_1000000_mutated_pipelines_end_typed_without_wrong_bytes() => RunAsync(1_000_000, seed: 1_000_004);

    private async Task RunAsync(int pipelines, int seed)
    {
        var dotted = Array.FindAll(_articles, article => article.Good.AsSpan().IndexOf("\r\n.."u8) >= 0);
        using var socket = new PoolModel.LeftSocket();
        using var meter = new NntpMeter(TimeProvider.System);
        await Parallel.ForEachAsync(Enumerable.Range(seed, pipelines), TestContext.Current.CancellationToken, async (each, _) =>
        {
            var replies = new MutatedReplies(each, _articles, dotted, Options.MaxLineBytes, (int)Options.MaxArticleBytes);
            try
            {
                var pipeline = new Pipeline(replies, new Random(each), socket, meter, _decoders);
                pipeline.Run();
                await pipeline.CloseAsync();
                foreach (var end in pipeline.Ends())
                    _ends.AddOrUpdate(end, 1, static (_, count) => count + 1);
            }
            catch (Exception failure)
            {
                throw new InvalidOperationException($"Seed {each}, {replies.Way}: {failure.Message}", failure);
            }

            if (!replies.Wire.AsSpan().SequenceEqual(replies.Good))
                _ways.AddOrUpdate(replies.Way, 1, static (_, count) => count + 1);
        });
        socket.Release();

        TestContext.Current.TestOutputHelper?.WriteLine($"seeds from {seed}; {string.Join(", ", _ways.OrderBy(way => way.Key))}; {string.Join(", ", _ends.OrderBy(end => end.Key))}");

        // The test proves something only if every way and every outcome occurs.
        Assert.Equal(MutatedReplies.Kinds, _ways.Count);
        Assert.All(_ways, way => Assert.InRange(way.Value, pipelines / 100, pipelines));
        string[] expected =
        [
            nameof(SegmentProof.Proved), nameof(SegmentProof.Unconfirmed), nameof(SegmentProof.Corrupt), "miss", "statted", "cancelled",
            .. new[]
            {
                NntpFault.ConnectionClosed, NntpFault.Stalled, NntpFault.MalformedReply, NntpFault.WrongArticle, NntpFault.UnexpectedCode, NntpFault.ArticleTooLarge,
            }.Select(fault => $"{fault}"),
        ];
        Assert.All(expected, end => Assert.InRange(_ends.GetValueOrDefault(end), pipelines / 1_000, int.MaxValue));
    }

    /// <summary>One account, one connection, and the replies to all its commands.</summary>
    [SuppressMessage("Design", "CA1001:Types that own disposable fields should be disposable", Justification = "A run that has failed cannot be closed: what would end its connection runs no more.")]
    private sealed class Pipeline
    {
        private readonly MutatedReplies _replies;
        private readonly Random _random;
        private readonly Turns _turns = new();
        private readonly ManualTimeProvider _clock = new();
        private readonly GlobalOperationLimiter _limiter;
        private readonly ProviderMemory _memory;
        private readonly ProviderOptions _account = new() { Name = "wire", Host = "wire", UseTls = false, MaxConnections = 1, PipeliningDepth = 16 };
        private readonly NntpConnectionPool _pool;
        private readonly WireStream _stream;
        private readonly Fetch[] _fetches;
        private bool _isDialled;

        public Pipeline(MutatedReplies replies, Random random, Socket socket, NntpMeter meter, DecoderPool decoders)
        {
            (_replies, _random) = (replies, random);
            _limiter = new GlobalOperationLimiter(time: _clock);
            _memory = new ProviderMemory(_clock);
            _stream = new WireStream(replies.Wire, random);
            var shared = new SharedResources(Options, _limiter, new HandshakeLimit(1, _clock), meter, _memory, _clock, NullLogger.Instance, names: null, (_, _) => DialAsync(socket));
            _pool = new NntpConnectionPool(_account, shared);
            _limiter.Returned += _pool.Pump;
            _limiter.Allow(1);
            _fetches = [.. replies.Commands.Select(command => new Fetch(command, decoders))];
        }

        /// <summary>Starts every fetch, sends all replies, and advances time until nothing can happen any more.</summary>
        public void Run()
        {
            var before = SynchronizationContext.Current;
            SynchronizationContext.SetSynchronizationContext(_turns);
            try
            {
                foreach (var fetch in _fetches)
                    fetch.Begin(_pool);
                _turns.Run();
                Assert.Equal(_replies.Commands.Sum(command => command.Ids.Length), _stream.Commands);
                var leaver = _random.Next(8) == 0 ? _fetches[_random.Next(_fetches.Length)] : null;
                for (var reads = leaver is null ? int.MaxValue : _random.Next(6); _stream.TrySend(); reads--)
                {
                    if (reads == 0)
                        leaver!.Cancel();
                    _turns.Run();
                }

                for (var events = 0; _clock.AdvanceToNext(Ages); events++)
                {
                    _turns.Run();
                    Assert.True(events < MostEvents, $"there is no end: {_pool}");
                }

                Check();
            }
            finally
            {
                SynchronizationContext.SetSynchronizationContext(before);
            }
        }

        /// <summary>Returns the outcomes of the fetches.</summary>
        public IEnumerable<string> Ends() => _fetches.Select(fetch => fetch.End!);

        /// <summary>Closes pool and stream after <see cref="Run"/>, when nothing is open any more.</summary>
        public async Task CloseAsync()
        {
            _limiter.Returned -= _pool.Pump;
            await _pool.DisposeAsync();
            Assert.Equal(0, _clock.Alive);
            await _stream.DisposeAsync();
        }

        private void Check()
        {
            foreach (var fetch in _fetches)
            {
                fetch.Check();
                foreach (var id in fetch.Command.Ids.Except(fetch.Command.Missing))
                    Assert.False(!_replies.Lies && _memory.IsMissing(_account.Id, MessageId.Parse(id)), $"{id} exists, and is remembered as missing");
            }

            Assert.Equal(0, _pool.Sockets);
            Assert.All(Enum.GetValues<OperationLane>(), lane => Assert.Equal(0, _limiter.InUse(lane)));
            Assert.Equal(0, _clock.Waiting);
            Assert.True(_stream.IsClosed, "the stream is open still");
        }

        private async Task<NntpTransport> DialAsync(Socket socket)
        {
            await Task.Yield();
            if (_isDialled)
                throw new NntpException(NntpFault.ConnectFailed, "There is one connection.");
            _isDialled = true;
            return new NntpTransport(socket, _stream, Options.ReceiveBufferBytes);
        }
    }

    /// <summary>One command or batch, from its lease to its end.</summary>
    [SuppressMessage("Design", "CA1001:Types that own disposable fields should be disposable", Justification = "The source holds neither a timer nor a handle.")]
    private sealed class Fetch(MutatedReplies.Command command, DecoderPool decoders) : IArticleSink
    {
        private readonly CancellationTokenSource _leaving = new();
        private readonly ArrayBufferWriter<byte> _output = new(1024);
        private readonly MessageId[] _ids = [.. command.Ids.Select(MessageId.Parse)];
        private ArticleDecoder? _decoder;
        private Task? _work;
        private bool _isOver;
        private int _intruders;

        public MutatedReplies.Command Command => command;

        /// <summary>The outcome: the proof of its article, or the reason why there is none.</summary>
        public string? End { get; private set; }

        public void Begin(NntpConnectionPool pool) => _work = RunAsync(pool);

        public void Cancel() => _leaving.Cancel();

        public void Start(int provider)
        {
            if (_isOver)
                _intruders++;
            (_decoder ??= decoders.Rent()).Reset();
            _output.ResetWrittenCount();
        }

        public bool Write(ReadOnlySpan<byte> raw, out int consumed)
        {
            if (_isOver)
                _intruders++;
            return _decoder!.Decode(raw, _output, out consumed);
        }

        public void Check()
        {
            if (_work is { IsFaulted: true })
                throw _work.Exception!;
            Assert.True(_work!.IsCompleted, "a fetch has no end");
            Assert.Equal(0, _intruders);
            if (End == "cancelled")
                return;
            var expected = command.Fault is { } fault ? $"{fault}"
                : !command.Arrives ? null
                : command.IsStat ? "statted"
                : command.Article is null ? "miss" : nameof(SegmentProof.Proved);
            Assert.True(expected is null || End == expected, $"{command.Ids[0]} is {End} in place of {expected}");
            Assert.False(command.IsWholeOrNothing && End is nameof(SegmentProof.Unconfirmed) or nameof(SegmentProof.Corrupt), $"{command.Ids[0]} has the bytes of another");
        }

        private async Task RunAsync(NntpConnectionPool pool)
        {
            try
            {
                End = command.IsStat ? await AskAsync(pool) : await FetchAsync(pool);
            }
            catch (NntpException error)
            {
                // Broken would hide an error that is not a fault of the line.
                Assert.NotEqual(NntpFault.Broken, error.Fault);
                End = $"{error.Fault}";
            }
            catch (OperationCanceledException) when (_leaving.IsCancellationRequested)
            {
                End = "cancelled";
            }
            finally
            {
                _isOver = true;
                if (_decoder is not null)
                    decoders.Return(_decoder);
                _decoder = null;
            }
        }

        private async Task<string> AskAsync(NntpConnectionPool pool)
        {
            var batch = new StatBatch(_ids, OperationLane.Playback);
            using var lease = new ConnectionLease(batch.Request);
            await pool.LeaseAsync(lease, _leaving.Token);
            await lease.AskAsync(batch, _leaving.Token);
            for (var i = 0; i < _ids.Length && command.Arrives; i++)
                Assert.Equal(command.Missing.Contains(command.Ids[i]), batch.CodeOf(i, isInStep: true) != NntpResponseCode.ArticleExists);
            return "statted";
        }

        private async Task<string> FetchAsync(NntpConnectionPool pool)
        {
            using var lease = new ConnectionLease(new ArticleRequest(_ids[0], OperationLane.Playback, ExpectedBytes: 1_000));
            await pool.LeaseAsync(lease, _leaving.Token);
            if ((await lease.FetchAsync(this, _leaving.Token)).IsMiss)
                return "miss";
            var result = _decoder!.GetResult();
            var data = command.Article?.Data;
            var proof = SegmentEvidence.Of(result, new Segment(1, MutatedArticle.Begin, data?.Length ?? 500)).Judge(Habit, checksCrc: true);
            Assert.True(proof != SegmentProof.Proved || _output.WrittenSpan.SequenceEqual(data), $"wrong bytes of {command.Ids[0]} are proved");
            return $"{proof}";
        }
    }

    /// <summary>Sends the server's bytes in random pieces, and then closes, resets or stays silent.</summary>
    private sealed class WireStream : ModelStream
    {
        private readonly byte[] _wire;
        private readonly Random _random;
        private readonly int _longest;
        private readonly int _ending;
        private int _read;
        private int _sent;
        private bool _hasEnded;

        public WireStream(byte[] wire, Random random)
        {
            (_wire, _random) = (wire, random);
            _longest = random.Next(4) switch { 0 => 1 + random.Next(8), 1 => 64, 2 => 700, _ => int.MaxValue };
            _ending = random.Next(4);
        }

        /// <summary>Number of received commands.</summary>
        public int Commands { get; private set; }

        public bool IsClosed { get; private set; }

        /// <summary>Sends the next piece, or the end.</summary>
        /// <returns>False if everything has been sent.</returns>
        public bool TrySend()
        {
            if (_hasEnded)
                return false;
            if (_sent == _wire.Length)
            {
                _hasEnded = true;
                if (_ending == 0)
                    return false;
            }

            _sent += Math.Min(_random.Next(_longest) + 1, _wire.Length - _sent);
            EndRead();
            return true;
        }

        public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
        {
            foreach (var line in Encoding.ASCII.GetString(buffer.Span).Split("\r\n", StringSplitOptions.RemoveEmptyEntries))
            {
                if (!line.StartsWith("QUIT", StringComparison.Ordinal))
                    Commands++;
                else
                    _hasEnded = true;
            }

            EndRead();
            return ValueTask.CompletedTask;
        }

        protected override void Dispose(bool disposing)
        {
            IsClosed = true;
            base.Dispose(disposing);
        }

        protected override int? Take(Memory<byte> buffer)
        {
            if (_read == _sent)
            {
                if (_hasEnded && _ending == 1)
                    throw new IOException("Reset.");
                return _hasEnded && _ending != 0 ? 0 : null;
            }

            var count = Math.Min(buffer.Length, _sent - _read);
            _wire.AsSpan(_read, count).CopyTo(buffer.Span);
            _read += count;
            return count;
        }
    }
}
