using System.Globalization;
using System.Net;
using System.Text;
using System.Text.Json;
using Microsoft.Data.Sqlite;
using Sluice.Server.Tests.EndToEnd;
using Xunit;

namespace Sluice.Server.Tests.Kills;

/// <summary>
/// One data folder whose server is killed repeatedly, at a step or after a number of calls, while clients add, remove and pause items.
/// After each kill it is started again and checked; that process is killed too, during its imports.
/// </summary>
internal sealed class KillLane : IDisposable
{
    private const int Clients = 4;
    private const int ArticleSize = 30_000;
    private const int LanePlaces = 1_000_000;

    // No call reaches a step that so many calls have not reached.
    private const int MostCalls = 3000;

    private readonly ScratchFolder _scratch = new();
    private readonly ItemLedger _ledger = new();
    private readonly IReadOnlyDictionary<string, string> _settings;
    private readonly int _lane;
    private readonly int _indexer;
    private int _items;
    private int _calls;

    /// <param name="lane">Number of the lane, which makes the names of its items unique.</param>
    /// <param name="settings">Environment variables of each start.</param>
    /// <param name="indexer">Port of a host that serves the NZB of a seed.</param>
    public KillLane(int lane, IReadOnlyDictionary<string, string> settings, int indexer) => (_lane, _settings, _indexer) = (lane, settings, indexer);

    private string Data => _scratch.File("data");

    /// <summary>The longest start so far.</summary>
    public TimeSpan Slowest { get; private set; }

    /// <summary>Number of items whose adds were answered.</summary>
    public int Acknowledged => _ledger.Items.Count(item => item.Told != Told.Nothing);

    /// <summary>Number of calls by its clients.</summary>
    public int Calls { get; private set; }

    /// <summary>Number of items that a check has read as films.</summary>
    public int Read => _ledger.Items.Count(item => item.IsRead);

    /// <summary>Kills the server once, starts it again and checks it.</summary>
    /// <param name="kill">The step, or null for a kill after a number of calls.</param>
    /// <param name="pass">The pass of the step, or the number of calls before the kill.</param>
    /// <param name="cancel">Cancels the round.</param>
    public async Task RoundAsync(string? kill, int pass, CancellationToken cancel)
    {
        var armed = kill is null ? null : string.Create(CultureInfo.InvariantCulture, $"{kill}:{pass}");
        if (kill is not null && IsOfOldItems(kill))
            await HideOldItemAsync(cancel);
        await using (var server = await ArmedServer.StartAsync(Data, _settings, armed, cancel))
        {
            _calls = 0;
            var limit = kill is null ? pass : MostCalls;
            await Task.WhenAll(Enumerable.Range(0, Clients).Select(i => Task.Run(() => ActAsync(server, new Random((_lane * LanePlaces) + (_items * Clients) + i), limit, cancel), cancel)));
            Calls += _calls;
            if (kill is null)
                await server.KillAsync();
            else if (!server.HasEnded && _calls >= MostCalls)
                Assert.Fail($"No call came to {armed}.");
            await server.EndAsync(cancel);
        }

        await LookAsync(armed ?? $"a kill after {pass} calls", cancel);
    }

    /// <summary>Starts the server once more and reads some films again, because later kills must not have damaged them.</summary>
    public async Task FinishAsync(CancellationToken cancel)
    {
        foreach (var item in _ledger.Items.Where(item => item.IsRead).Index().Where(item => item.Index % 10 == 0))
            item.Item.IsRead = false;
        await LookAsync("the end", cancel);
    }

    public void Dispose() => _scratch.Dispose();

    /// <summary>Whether a kill point lies in the permanent deletion of expired history items, which happens at startup.</summary>
    public static bool IsOfOldItems(string kill) => kill.StartsWith("forget-", StringComparison.Ordinal);

    /// <summary>Publishes a film, hides its item, and makes it too old, so that the server deletes it at the next startup.</summary>
    private async Task HideOldItemAsync(CancellationToken cancel)
    {
        await using (var server = await ArmedServer.StartAsync(Data, _settings, null, cancel))
        {
            var item = Film();
            var id = await server.Client.AddFileAsync("movies", item.Name, item.Nzb, cancel);
            // Without an id, no other client takes the item from the ledger.
            _ledger.Keep(item, null);
            await server.Client.PublishedAsync(id, cancel);
            await HideAsync(server.Client, item, id, cancel);
            await server.KillAsync();
        }

        await using var connection = new SqliteConnection($"Data Source={Path.Combine(Data, "sluice.db")};Pooling=False");
        await connection.OpenAsync(cancel);
        await using var command = connection.CreateCommand();
        command.CommandText = "UPDATE history_item SET completed_at = 0 WHERE archived <> 0";
        Assert.NotEqual(0, await command.ExecuteNonQueryAsync(cancel));
    }

    private async Task LookAsync(string after, CancellationToken cancel)
    {
        await using var server = await ArmedServer.StartAsync(Data, _settings, null, cancel);
        Slowest = server.Took > Slowest ? server.Took : Slowest;
        var violations = await new LedgerCheck(_ledger, Data, server.Client).RunAsync(cancel);
        Assert.True(violations.Count == 0, $"After {after}:\n{string.Join('\n', violations)}");
        await server.KillAsync();
    }

    /// <summary>Makes calls as one client until the server has ended or all clients together have reached the limit.</summary>
    private async Task ActAsync(ArmedServer server, Random random, int limit, CancellationToken cancel)
    {
        while (!server.HasEnded && Interlocked.Increment(ref _calls) <= limit)
        {
            try
            {
                await ActAsync(server.Client, random.Next(100), cancel);
            }
            catch (Exception cut) when (cut is HttpRequestException or IOException or JsonException)
            {
                // The process ended before it answered, so nothing was acknowledged.
                await server.EndAsync(cancel, cut);
            }
        }
    }

    private async Task ActAsync(SluiceClient client, int dice, CancellationToken cancel)
    {
        switch (dice)
        {
            case < 20:
                await AddAsync(client, Film(), "movies", cancel);
                break;
            case < 32:
                await AddAsync(client, Film(), "movies&priority=-2", cancel);
                break;
            case < 40:
                await AddUrlAsync(client, Film(), cancel);
                break;
            case < 50:
                var name = $"junk-{Next()}";
                await AddAsync(client, _ledger.Ask(name, Encoding.UTF8.GetBytes($"No NZB, and {name}."), null), "movies", cancel);
                break;
            case < 56:
                await PutAsync(Film(), (item, token) => client.PutNzbAsync("movies", item.Name, item.Nzb, token), cancel);
                break;
            case < 64:
                await PutAsync(Film(), (item, token) => client.PutAndMoveAsync("movies", item.Name, item.Nzb, token), cancel);
                break;
            case < 74:
                await RemoveAsync(client, cancel);
                break;
            case < 84:
                await SettleAsync(client, isFilm: true, cancel);
                break;
            case < 94:
                await SettleAsync(client, isFilm: false, cancel);
                break;
            default:
                await ResumeAsync(client, cancel);
                break;
        }
    }

    private async Task AddAsync(SluiceClient client, LedgerItem item, string category, CancellationToken cancel) =>
        _ledger.Keep(item, await client.AddFileAsync(category, item.Name, item.Nzb, cancel));

    private async Task AddUrlAsync(SluiceClient client, LedgerItem item, CancellationToken cancel)
    {
        var url = Uri.EscapeDataString($"http://127.0.0.1:{_indexer}/{item.Name}");
        using var answer = await client.CallAsync($"mode=addurl&cat=movies&name={url}&nzbname={item.Name}", cancel);
        Assert.True(answer.RootElement.GetProperty("status").GetBoolean(), answer.RootElement.ToString());
        _ledger.Keep(item, answer.RootElement.GetProperty("nzo_ids")[0].GetString());
    }

    private async Task PutAsync(LedgerItem item, Func<LedgerItem, CancellationToken, Task<HttpStatusCode>> put, CancellationToken cancel)
    {
        Assert.Equal(HttpStatusCode.Created, await put(item, cancel));
        _ledger.Keep(item, null);
    }

    /// <summary>Removes an item; the answer tells whether it was still queued or had already been published.</summary>
    private async Task RemoveAsync(SluiceClient client, CancellationToken cancel)
    {
        if (!_ledger.TryTake(isFilm: true, out var item))
            return;
        item.Told = Told.Leaving;
        using var answer = await client.CallAsync($"mode=queue&name=delete&value={item.Id}", cancel);
        item.Told = answer.RootElement.GetProperty("nzo_ids").GetArrayLength() == 1 ? Told.Removed : Told.Kept;
    }

    /// <summary>Hides a published item from clients for good, or retries a failed item.</summary>
    private async Task SettleAsync(SluiceClient client, bool isFilm, CancellationToken cancel)
    {
        if (!_ledger.TryTake(isFilm, out var item))
            return;
        using var found = await client.CallAsync($"mode=history&nzo_ids={item.Id}", cancel);
        var isFinished = found.RootElement.GetProperty("history").GetProperty("slots").GetArrayLength() == 1;
        if (isFinished && isFilm)
        {
            await HideAsync(client, item, item.Id!, cancel);
            return;
        }

        _ledger.PutBack(item);
        if (!isFinished)
            return;
        using var retried = await client.CallAsync($"mode=retry&value={item.Id}", cancel);
        // Another client may just have retried it.
        Assert.True(retried.RootElement.GetProperty("status").GetBoolean() || retried.RootElement.GetProperty("error").GetString() == "item does not exist", retried.RootElement.ToString());
    }

    private static async Task HideAsync(SluiceClient client, LedgerItem item, string id, CancellationToken cancel)
    {
        (item.Told, item.IsForgotten) = (Told.Leaving, true);
        using var hidden = await client.CallAsync($"mode=history&name=delete&value={id}&archive=0", cancel);
        Assert.True(hidden.RootElement.GetProperty("status").GetBoolean(), hidden.RootElement.ToString());
        item.Told = Told.Removed;
    }

    private async Task ResumeAsync(SluiceClient client, CancellationToken cancel)
    {
        if (!_ledger.TryTake(isFilm: true, out var item))
            return;
        using var answer = await client.CallAsync($"mode=queue&name=resume&value={item.Id}", cancel);
        Assert.True(answer.RootElement.GetProperty("status").GetBoolean());
    }

    private LedgerItem Film()
    {
        var film = FilmOf((ulong)((_lane * LanePlaces) + Next()));
        return _ledger.Ask(film.Name, film.Nzb, film);
    }

    /// <summary>Returns the film of a seed, which is part of its name.</summary>
    public static SyntheticFilm FilmOf(ulong seed) => new(seed, 2 * ArticleSize, ArticleSize);

    private int Next() => Interlocked.Increment(ref _items);
}
