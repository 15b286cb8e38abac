using System.Collections.Concurrent;
using System.Globalization;
using System.Text;
using System.Text.Json;
using Sluice.Server.Tests.EndToEnd;
using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.Kills;

/// <summary>
/// Eight clients add, remove, pause, resume, move, retry and list while the server is killed repeatedly: for each item, one order of the
/// operations explains every answer (SAB-92, G14).
/// </summary>
[Collection(EndToEndRun.Name)]
public sealed class QueueHistoryTests
{
    private const int Clients = 8;
    private const int Kills = 5;
    private const int Operations = 2_000;
    private const int LongOperations = 20_000;

    // With few items in use, operations of several clients meet at the same item.
    private const int InUse = 12;
    private const int MostOfOne = 60;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Category", EndToEndRun.Name)]
    [Trait("Category", FailpointBuild.Part)]
    public Task SAB92_2000_operations_have_one_valid_order_per_item() => RunAsync(Operations, 92);

    [Fact]
    [Trait("Category", EndToEndRun.Lengthy)]
    public Task SAB92_20000_operations_have_one_valid_order_per_item() => RunAsync(LongOperations, 93);

    private static async Task RunAsync(int operations, int seed)
    {
        FailpointBuild.Require();
        await using var mock = await MockServer.StartAsync();
        using var scratch = new ScratchFolder();
        var settings = ProviderSettings.For([.. mock.Ports], "", "");
        var items = new ConcurrentQueue<WatchedItem>();
        var random = new Random(seed);
        string[] points = [.. FailpointBuild.Points.Except(MigrationKillTests.Points).Where(point => !point.StartsWith("start-", StringComparison.Ordinal))];
        var made = 0;
        for (var part = 1; made < operations; part++)
        {
            // The server ends at a step that it reaches after about as many operations as the part has, or at the end of the part.
            var armed = string.Create(CultureInfo.InvariantCulture, $"{points[random.Next(points.Length)]}:{random.Next(10, 60)}");
            await using var server = await ArmedServer.StartAsync(scratch.File("data"), settings, armed, Token);
            var limit = Math.Min(operations, made + (operations / Kills));
            await Task.WhenAll(Enumerable.Range(0, Clients).Select(client => Task.Run(
                async () =>
                {
                    var dice = new Random((((seed * 1000) + part) * Clients) + client);
                    while (!server.HasEnded && Interlocked.Increment(ref made) <= limit)
                        await ActAsync(server, items, dice);
                },
                Token)));
            if (!server.HasEnded)
                await server.KillAsync();
        }

        await using (var server = await ArmedServer.StartAsync(scratch.File("data"), settings, null, Token))
        {
            foreach (var item in items)
            {
                await LookAsync(server, item, Act.LookQueue);
                await LookAsync(server, item, Act.LookHistory);
            }
        }

        var wrong = items.Where(item => !ItemHistory.IsPossible(item.Operations)).Select(item => $"{item.Id}:\n{string.Join('\n', item.Operations.OrderBy(operation => operation.Called))}").ToList();
        var all = items.SelectMany(item => item.Operations).ToList();
        TestContext.Current.TestOutputHelper!.WriteLine(
            $"seed {seed}: {all.Count} operations on {items.Count} items, {all.Count(operation => operation.Answer is null)} of them unanswered: "
            + string.Join(", ", all.CountBy(operation => $"{operation.Act} {operation.Answer}").OrderBy(count => count.Key, StringComparer.Ordinal).Select(count => $"{count.Key} {count.Value}")));
        Assert.True(wrong.Count == 0, $"{wrong.Count} items:\n{string.Join("\n\n", wrong)}");
    }

    private static Task ActAsync(ArmedServer server, ConcurrentQueue<WatchedItem> items, Random random)
    {
        var dice = random.Next(100);
        var inUse = items.TakeLast(InUse).Where(item => item.Operations.Count < MostOfOne).ToList();
        if (dice < 12 || inUse.Count == 0)
            return AddAsync(server, items, isPaused: dice % 2 == 0, isFilm: dice % 3 != 0, random.NextInt64());
        var item = inUse[random.Next(inUse.Count)];
        return dice switch
        {
            < 20 => CallAsync(server, item, Act.Remove, $"mode=queue&name=delete&value={item.Id}", ReadIds),
            < 26 => CallAsync(server, item, Act.Touch, $"mode=queue&name=priority&value={item.Id}&value2={dice % 2}", ReadPosition),
            < 30 => CallAsync(server, item, Act.Touch, $"mode=switch&value={item.Id}&value2=0", root => ReadPosition(root.GetProperty("result")), tellsAbsence: false),
            < 38 => CallAsync(server, item, Act.Retry, $"mode=retry&value={item.Id}", ReadDone),
            < 42 => CallAsync(server, item, Act.Forget, $"mode=history&name=delete&value={item.Id}&archive=0", ReadDone),
            < 51 => CallAsync(server, item, Act.Pause, $"mode=queue&name=pause&value={item.Id}", ReadDone),
            < 60 => CallAsync(server, item, Act.Resume, $"mode=queue&name=resume&value={item.Id}", ReadDone),
            < 82 => LookAsync(server, item, Act.LookQueue),
            _ => LookAsync(server, item, Act.LookHistory),
        };
    }

    private static async Task AddAsync(ArmedServer server, ConcurrentQueue<WatchedItem> items, bool isPaused, bool isFilm, long seed)
    {
        var name = string.Create(CultureInfo.InvariantCulture, $"item-{seed}");
        var nzb = isFilm ? new SyntheticFilm((ulong)seed, 60_000, 30_000).Nzb : Encoding.UTF8.GetBytes($"No NZB, and {name}.");
        var called = TimeProvider.System.GetTimestamp();
        try
        {
            var id = await server.Client.AddFileAsync(isPaused ? "movies&priority=-2" : "movies", name, nzb, Token);
            var item = new WatchedItem(id);
            item.Operations.Add(new Operation(isPaused ? Act.AddPaused : Act.Add, called, TimeProvider.System.GetTimestamp(), Answers.Done));
            items.Enqueue(item);
        }
        catch (Exception cut) when (IsCut(cut))
        {
            // The add has no answer, so no client has an id to use.
            await server.EndAsync(Token);
        }
    }

    private static Task LookAsync(ArmedServer server, WatchedItem item, Act act)
    {
        var list = act == Act.LookQueue ? "queue" : "history";
        return CallAsync(server, item, act, $"mode={list}&nzo_ids={item.Id}", root => root.GetProperty(list).GetProperty("slots") is var slots && slots.GetArrayLength() == 1
            ? slots[0].GetProperty("status").GetString()!
            : Answers.Absent);
    }

    /// <param name="server">Running, until it ends.</param>
    /// <param name="item">The item.</param>
    /// <param name="act">The kind of operation.</param>
    /// <param name="query">The call.</param>
    /// <param name="read">Reads the answer.</param>
    /// <param name="tellsAbsence">False if an existing item may be reported as absent, as when it moves to its own position.</param>
    private static async Task CallAsync(
        ArmedServer server, WatchedItem item, Act act, string query, Func<JsonElement, string> read, bool tellsAbsence = true)
    {
        var called = TimeProvider.System.GetTimestamp();
        string? answer = null;
        try
        {
            using var json = await server.Client.CallAsync(query, Token);
            answer = read(json.RootElement);
        }
        catch (Exception cut) when (IsCut(cut))
        {
            await server.EndAsync(Token);
        }

        // A lookup without an answer tells nothing, nor does an unreliable report of absence.
        if (answer is not null ? tellsAbsence || answer != Answers.Absent : act is not (Act.LookQueue or Act.LookHistory))
            item.Operations.Add(new Operation(act, called, TimeProvider.System.GetTimestamp(), answer));
    }

    private static string ReadIds(JsonElement root) => root.GetProperty("nzo_ids").GetArrayLength() == 1 ? Answers.Done : Answers.Absent;

    private static string ReadPosition(JsonElement root) => root.GetProperty("position").GetInt32() >= 0 ? Answers.Done : Answers.Absent;

    private static string ReadDone(JsonElement root) => root.GetProperty("status").GetBoolean() ? Answers.Done : Answers.Absent;

    private static bool IsCut(Exception failure) => failure is HttpRequestException or IOException or JsonException;

    /// <summary>An item and all operations on it.</summary>
    private sealed class WatchedItem(string id)
    {
        public string Id => id;

        public ConcurrentBag<Operation> Operations { get; } = [];
    }
}
