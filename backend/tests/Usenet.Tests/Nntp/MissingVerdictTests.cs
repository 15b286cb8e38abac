using System.Text;
using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Fetching;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>The table in section 1 of the health contract: replies of providers about one article, and the conclusion from them.</summary>
public sealed class MissingVerdictTests
{
    private const int MostProviders = 5;
    private static readonly int Classes = Enum.GetValues<Class>().Length;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    /// <summary>Behavior of one provider for an article.</summary>
    private enum Class
    {
        Good,

        /// <summary>It answers STAT but sends no body.</summary>
        Present,
        Gone,
        Bad,
        Inconclusive,
    }

    private enum Verdict
    {
        Ok,
        Missing,
        Corrupt,
        Unknown,
    }

    [Theory(Timeout = 300_000)]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    [InlineData(MostProviders)]
    public async Task F17_Missing_requires_a_definitive_miss_at_every_provider(int providers)
    {
        var servers = Enumerable.Range(0, providers).Select(index => new ScriptedServer(connection => Serve(connection, index))).ToArray();
        ProviderOptions[] accounts = [.. servers.Select((server, index) => new ProviderOptions
        {
            Name = $"scripted{index}", Host = "127.0.0.1", Port = server.Port, UseTls = false, MaxConnections = 1, Priority = index,
        })];
        var options = new NntpOptions { CloseGrace = TimeSpan.Zero, HedgeEnabled = false, RetriesPerProvider = 0 };
        await using (var pool = new ProviderPool(accounts, options, new GlobalOperationLimiter(), TimeProvider.System, NullLoggerFactory.Instance))
        {
            var combinations = (int)Math.Pow(Classes, providers);
            for (var number = 0; number < combinations; number++)
            {
                var classes = Enumerable.Range(0, providers).Select(index => (Class)(number / (int)Math.Pow(Classes, index) % Classes)).ToArray();
                var id = MessageId.Parse($"{string.Concat(classes.Select(each => (char)('0' + (int)each)))}.{providers}@t");
                Assert.True(Expected(classes) == await FetchAsync(pool, id), $"BODY: {string.Join(' ', classes)}");

                var answers = new ArticlePresence[1];
                await pool.StatAsync(new StatRequest(new[] { id }, OperationLane.HealthCheck, EveryProvider: true), answers, Token);
                Assert.True(Expected(classes, Class.Gone) == answers[0].Misses && Expected(classes, Class.Inconclusive) == answers[0].Unanswered, $"STAT: {string.Join(' ', classes)}");
                Assert.Equal(classes.All(each => each == Class.Gone), answers[0].IsMissingEverywhere);
            }
        }

        foreach (var server in servers)
            await server.DisposeAsync();
    }

    private static Verdict Expected(Class[] classes)
    {
        if (classes.Contains(Class.Good))
            return Verdict.Ok;
        if (classes.Contains(Class.Present) || classes.Contains(Class.Inconclusive))
            return Verdict.Unknown;
        return classes.Contains(Class.Bad) ? Verdict.Corrupt : Verdict.Missing;
    }

    private static ProviderSet Expected(Class[] classes, Class wanted)
    {
        var set = default(ProviderSet);
        for (var index = 0; index < classes.Length; index++)
            set = classes[index] == wanted ? set.With(index) : set;
        return set;
    }

    /// <summary>Fetches as a client that accepts no bad copy: again, without the provider of the bad copy.</summary>
    private static async Task<Verdict> FetchAsync(ProviderPool pool, MessageId id)
    {
        var bad = default(ProviderSet);
        while (true)
        {
            var sink = new TextSink();
            ArticleReply reply;
            try
            {
                reply = await pool.FetchAsync(new ArticleRequest(id, OperationLane.Import, ExpectedBytes: 100, Excluded: bad), sink, Token);
            }
            catch (NntpException)
            {
                return Verdict.Unknown;
            }

            if (!reply.IsFound)
                return bad.Count > 0 ? Verdict.Corrupt : Verdict.Missing;
            if (sink.Text == "good\r\n.\r\n")
                return Verdict.Ok;
            bad = bad.With(reply.Provider);
        }
    }

    private static void Serve(ScriptedServer.Connection connection, int index)
    {
        connection.Send("200 ready\r\n"u8);
        while (true)
        {
            var words = Encoding.ASCII.GetString(connection.ReadCommand()).Split(' ');
            if (words.Length < 2)
                return;
            var shown = (Class)(words[1][1 + index] - '0');
            var isStat = words[0] == "STAT";

            // This reply counts neither against the article nor against the provider.
            const string Refusal = "502 too many connections\r\n";
            var answer = shown switch
            {
                Class.Gone => "430 no such article\r\n",
                Class.Inconclusive => Refusal,
                _ when isStat => $"223 0 {words[1]}\r\n",
                Class.Present => Refusal,
                _ => $"222 0 {words[1]}\r\n{(shown == Class.Good ? "good" : "bad")}\r\n.\r\n",
            };
            connection.Send(Encoding.ASCII.GetBytes(answer));
            if (answer == Refusal)
                return;
        }
    }
}
