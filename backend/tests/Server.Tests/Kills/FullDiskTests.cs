using System.Net;
using Sluice.Server.Tests.Auth;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.EndToEnd;
using Sluice.Server.Tests.Startup;
using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.Kills;

/// <summary>
/// A real disk of 8 MiB is filled, each time to a few more free blocks, while items are imported, added and removed, so each write fails
/// once because it does not fit (F34). Nothing acknowledged is lost, and the server recovers without help.
/// </summary>
[Collection(EndToEndRun.Name)]
[Trait("Category", EndToEndRun.Name)]
[Trait("Category", FailpointBuild.Part)]
public sealed class FullDiskTests : IDisposable
{
    private const int Roomy = 120 << 20;
    private const int Small = 8 << 20;
    private const int Blocks = 16;
    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(20);

    private readonly TemporaryFolder _temporary = new();
    private readonly ItemLedger _ledger = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task F34_Full_disk_at_any_write_loses_no_acknowledged_item()
    {
        using var disk = await SmallDisk.MountAsync(_temporary.Root, Roomy, Token);
        await using var mock = await MockServer.StartAsync();
        var settings = ProviderSettings.For([.. mock.Ports], "", "");
        settings["SLUICE_CONFIG__WEBDAV__USER"] = ServerProcess.User;
        settings["SLUICE_CONFIG__WEBDAV__PASS"] = QuickHash.Of(ServerProcess.Password);
        settings["SLUICE_CONFIG__API__KEY"] = ServerProcess.ApiKey;
        await using (var server = await StartAsync(settings))
        {
            using var client = new SluiceClient(server);
            var items = new List<LedgerItem>();
            for (var i = 0; i < 2 * Blocks; i++)
                items.Add(await AddAsync(client, i));
            await disk.ResizeAsync(Small, Token);
            for (var free = 0; free < Blocks; free++)
            {
                disk.Fill(free);
                var refused = await client.TryAddFileAsync("movies", "more", Film(1000).Nzb, Token);
                Assert.Equal("Disk is full", refused);
                Assert.Equal(HttpStatusCode.InsufficientStorage, await client.PutNzbAsync("movies", "more", Film(1000).Nzb, Token));
                await ResumeAsync(client, items[2 * free]);
                await RemoveAsync(client, items[(2 * free) + 1]);
                disk.Free();
                Assert.Empty(await new LedgerCheck(_ledger, _temporary.Root, client).RunAsync(Token));
            }

            await server.KillAsync();
        }

        // A start retries waiting items at once.
        await using var again = await StartAsync(settings);
        using var after = new SluiceClient(again);
        using (var resumed = await after.CallAsync($"mode=queue&name=resume&value={string.Join(',', _ledger.Items.Select(item => item.Id))}", Token))
            Assert.True(resumed.RootElement.GetProperty("status").GetBoolean());
        foreach (var item in _ledger.Items.Where(item => item.Told == Told.Kept))
            await after.PublishedAsync(item.Name, Token);
        Assert.Empty(await new LedgerCheck(_ledger, _temporary.Root, after).RunAsync(Token));
    }

    /// <summary>Resumes an item, and waits until its import has ended or waits for disk space.</summary>
    private static async Task ResumeAsync(SluiceClient client, LedgerItem item)
    {
        using (await client.CallAsync($"mode=queue&name=resume&value={item.Id}", Token))
        {
            // Ignores the answer, because the status of the item shows whether the row was written.
        }

        while (true)
        {
            using var json = await client.CallAsync($"mode=queue&nzo_ids={item.Id}", Token);
            var slots = json.RootElement.GetProperty("queue").GetProperty("slots");
            if (slots.GetArrayLength() == 0 || slots[0].GetProperty("status").GetString() == "Paused"
                || slots[0].GetProperty("labels").EnumerateArray().Any(label => label.GetString() == "WAITING"))
                return;
            await Task.Delay(Poll, TimeProvider.System, Token);
        }
    }

    private static async Task RemoveAsync(SluiceClient client, LedgerItem item)
    {
        using var json = await client.CallAsync($"mode=queue&name=delete&value={item.Id}", Token);
        item.Told = json.RootElement.TryGetProperty("nzo_ids", out var ids) && ids.GetArrayLength() == 1 ? Told.Removed : Told.Kept;
    }

    private async Task<LedgerItem> AddAsync(SluiceClient client, int number)
    {
        var film = Film(number);
        var item = _ledger.Ask(film.Name, film.Nzb, film);
        _ledger.Keep(item, await client.AddFileAsync("movies&priority=-2", film.Name, film.Nzb, Token));
        return item;
    }

    private Task<ServerProcess> StartAsync(IReadOnlyDictionary<string, string> settings)
    {
        var (command, arguments) = Unprivileged.Server();
        return ServerProcess.StartAsync(command, arguments, _temporary.Root, ServerProcess.FreePort(), settings, Token);
    }

    private static SyntheticFilm Film(int number) => new((ulong)(34_000 + number), 60_000, 30_000);
}
