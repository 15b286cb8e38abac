using System.Collections.Concurrent;
using System.Globalization;
using System.Text;
using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Fetching;
using Sluice.Usenet.Nntp.Wire;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>A miss without an id is accepted only after its connection has shown that it answers in order.</summary>
public sealed class MissInStepTests
{
    private const int Parts = 200;
    private const int Depth = 16;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory(Timeout = 120_000)]
    [InlineData(FaultKind.CommandSwapped)]
    [InlineData(FaultKind.CommandTwice)]
    [InlineData(FaultKind.PolicyReorder)]
    public async Task F17_Out_of_sync_answers_never_report_an_article_missing(FaultKind kind)
    {
        var missing = string.Join(',', Enumerable.Range(1, Parts).Where(part => part % 3 == 0));
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(Parts, articleSize: 2_000),
            new MockOptions { Providers = [new MockProvider { Latency = TimeSpan.FromMilliseconds(5), Missing = ArticleSelection.Parse(missing) }] },
            provider: (_, account) => account with { PipeliningDepth = 8 });
        host.Mock.ChangeFaults([new MockFault { Kind = kind, Verb = "BODY", Rate = 0.1, Count = 7 }]);
        for (var round = 0; round < 4; round++)
        {
            var replies = await Task.WhenAll(Enumerable.Range(1, Parts).Select(part => FetchAsync(host, part)));
            for (var part = 1; part <= Parts; part++)
                Assert.False(replies[part - 1] is { } reply && reply.IsFound == (part % 3 == 0), $"round {round}: {part} is {(part % 3 == 0 ? "found" : "missing")}");
        }

        Assert.True(host.Mock.Stats.FaultCount(kind) > 0);
        host.Mock.ChangeFaults([]);
        for (var part = 1; part <= Parts; part++)
            Assert.Equal(part % 3 != 0, (await FetchAsync(host, part))?.IsFound);
        await host.AssertNothingIsLeftAsync(Token);
    }

    /// <summary>
    /// The server answers 16 commands at once, swaps two of the answers, and sends misses without an id. No existing article may ever be
    /// reported missing, and the missing ones must be found in the end.
    /// </summary>
    [Theory(Timeout = 120_000)]
    [MemberData(nameof(Distances))]
    public async Task F17_Swapped_miss_is_never_confirmed_at_any_distance(int distance)
    {
        for (var place = 0; place + distance < Depth; place++)
        {
            // One of the two swapped articles is missing; those around it exist or are missing.
            foreach (var missing in new[] { 1 << place, 1 << (place + distance), 0x5555 | (1 << place), 0xFFFF & ~(1 << place), 0xFFFF & ~(1 << (place + distance)) })
            {
                await using var server = new SwappingServer(missing, place, place + distance);
                await using var pool = server.Open();
                var replies = await FetchAllAsync(pool);
                AssertTrue(replies, missing, $"{place} in place of {place + distance}, missing {missing:X4}");
                server.IsInOrder = true;
                replies = await FetchAllAsync(pool);
                AssertTrue(replies, missing, "afterwards");
                Assert.DoesNotContain(replies, reply => reply is null);
            }
        }
    }

    /// <summary>The server withholds the reply behind the miss, which stays unconfirmed until a lone command confirms it.</summary>
    [Theory(Timeout = 120_000)]
    [InlineData(true)]
    [InlineData(false)]
    public async Task F17_Miss_blocking_a_reader_is_confirmed_by_a_lone_command(bool isMissing)
    {
        await using var server = new HeldServer(isMissing);
        await using var pool = server.Open();
        using var ends = CancellationTokenSource.CreateLinkedTokenSource(Token);
        var fetches = new List<Task<ArticleReply?>>();
        foreach (var id in new[] { "first@t", "asked@t", "behind@t" })
        {
            fetches.Add(FetchAsync(pool, id, isHeadOfLine: id.StartsWith('a'), ends.Token));
            await Eventually.HoldsAsync(() => server.Pipelined == fetches.Count, () => $"{server.Pipelined} commands on the first connection", Token);
        }

        var (first, asked, behind) = (fetches[0], fetches[1], fetches[2]);
        server.AnswerTwo();

        var reply = await asked.WaitAsync(TimeSpan.FromSeconds(20), TimeProvider.System, Token);

        Assert.Equal(!isMissing, reply?.IsFound);
        Assert.Equal(2, server.Asked);
        Assert.True((await first)?.IsFound);
        Assert.False(behind.IsCompleted);
        await ends.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => behind);
    }

    public static TheoryData<int> Distances => [.. Enumerable.Range(1, Depth - 1)];

    private static void AssertTrue(ArticleReply?[] replies, int missing, string what)
    {
        for (var i = 0; i < replies.Length; i++)
            Assert.False(replies[i] is { } reply && reply.IsFound == ((missing & (1 << i)) != 0), $"{what}: {i} is {(replies[i]?.IsFound == true ? "found" : "missing")}");
    }

    private static Task<ArticleReply?[]> FetchAllAsync(ProviderPool pool) =>
        Task.WhenAll(Enumerable.Range(0, Depth).Select(i => FetchAsync(pool, $"{i}@t", isHeadOfLine: true, Token)));

    private static Task<ArticleReply?> FetchAsync(EngineHost host, int part) =>
        FetchAsync(host.Pool, host.Release.MessageId(0, part), isHeadOfLine: true, Token, 2_000);

    /// <returns>Null if nothing could be determined.</returns>
    private static async Task<ArticleReply?> FetchAsync(ProviderPool pool, string id, bool isHeadOfLine, CancellationToken cancellationToken, int bytes = 100)
    {
        try
        {
            var request = new ArticleRequest(MessageId.Parse(id), OperationLane.Playback, new FetchUrgency(pool, isHeadOfLine), ExpectedBytes: bytes);
            return await pool.FetchAsync(request, new EndSink(), cancellationToken);
        }
        catch (NntpException failure)
        {
            TestContext.Current.TestOutputHelper?.WriteLine($"{id}: {failure}");
            return null;
        }
    }

    private static ProviderPool Open(int port, int connections)
    {
        var account = new ProviderOptions { Name = "scripted", Host = "127.0.0.1", Port = port, UseTls = false, MaxConnections = connections, PipeliningDepth = Depth };
        var options = new NntpOptions { CloseGrace = TimeSpan.Zero, HedgeEnabled = false, HandshakesPerProvider = 1 };
        return new ProviderPool([account], options, new GlobalOperationLimiter(), TimeProvider.System, NullLoggerFactory.Instance);
    }

    private static byte[] AnswerTo(string command, bool isMissing)
    {
        var id = command["BODY ".Length..];
        return Encoding.ASCII.GetBytes(isMissing ? "430 no such article\r\n" : $"222 0 {id}\r\n{id}\r\n.\r\n");
    }

    /// <summary>Swaps two answers of the first pipeline of each connection.</summary>
    private sealed class SwappingServer : IAsyncDisposable
    {
        private readonly ScriptedServer _server;
        private readonly int _missing;
        private readonly int _one;
        private readonly int _other;

        public SwappingServer(int missing, int one, int other)
        {
            (_missing, _one, _other) = (missing, one, other);
            _server = new ScriptedServer(Serve);
        }

        public bool IsInOrder { get; set; }

        public ProviderPool Open() => MissInStepTests.Open(_server.Port, connections: 1);

        public ValueTask DisposeAsync() => _server.DisposeAsync();

        private void Serve(ScriptedServer.Connection connection)
        {
            connection.Send("200 ready\r\n"u8);
            if (connection.Number == 1)
            {
                var answers = new byte[Depth][];
                for (var i = 0; i < Depth; i++)
                    answers[i] = Answer(Encoding.ASCII.GetString(connection.ReadCommand()));
                (answers[_one], answers[_other]) = (answers[_other], answers[_one]);
                connection.Send(answers.SelectMany(answer => answer).ToArray());
            }

            while (Encoding.ASCII.GetString(connection.ReadCommand()) is var command && command.StartsWith("BODY", StringComparison.Ordinal))
                connection.Send(Answer(command));
        }

        private byte[] Answer(string command)
        {
            var number = int.Parse(command.AsSpan("BODY <".Length).ToString().Split('@')[0], CultureInfo.InvariantCulture);
            return AnswerTo(command, (_missing & (1 << number)) != 0);
        }
    }

    /// <summary>Answers two of three commands on its first connection, the second with a miss, and never answers the third.</summary>
    private sealed class HeldServer : IAsyncDisposable
    {
        private readonly ScriptedServer _server;
        private readonly bool _isMissing;
        private readonly ManualResetEventSlim _goOn = new();
        private readonly ConcurrentQueue<string> _asked = new();
        private int _pipelined;

        public HeldServer(bool isMissing)
        {
            _isMissing = isMissing;
            _server = new ScriptedServer(Serve);
        }

        public int Pipelined => Volatile.Read(ref _pipelined);

        /// <summary>How often the article was requested.</summary>
        public int Asked => _asked.Count(id => id == "<asked@t>");

        public ProviderPool Open() => MissInStepTests.Open(_server.Port, connections: 2);

        public void AnswerTwo() => _goOn.Set();

        public async ValueTask DisposeAsync()
        {
            await _server.DisposeAsync();
            _goOn.Dispose();
        }

        private void Serve(ScriptedServer.Connection connection)
        {
            if (connection.Number > 1)
                _goOn.Wait(connection.Stopping);
            connection.Send("200 ready\r\n"u8);
            var isFirst = true;
            while (Encoding.ASCII.GetString(connection.ReadCommand()) is var command && command.StartsWith("BODY", StringComparison.Ordinal))
            {
                var id = command["BODY ".Length..];
                _asked.Enqueue(id);
                if (connection.Number > 1)
                {
                    connection.Send(AnswerTo(command, id == "<asked@t>" && _isMissing));
                    continue;
                }

                if (Interlocked.Increment(ref _pipelined) < 3)
                    continue;
                _goOn.Wait(connection.Stopping);
                if (isFirst)
                    connection.Send([.. AnswerTo("BODY <first@t>", isMissing: false), .. AnswerTo("BODY <asked@t>", isMissing: true)]);
                isFirst = false;
            }
        }
    }

    private sealed class EndSink : IArticleSink
    {
        private BodyScanner _scanner = BodyScanner.AtStart;

        public void Start(int provider) => _scanner = BodyScanner.AtStart;

        public bool Write(ReadOnlySpan<byte> raw, out int consumed) => _scanner.Scan(raw, out consumed);
    }
}
