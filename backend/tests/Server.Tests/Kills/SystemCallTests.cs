using System.Globalization;
using System.Net;
using Sluice.Server.Tests.EndToEnd;
using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.Kills;

/// <summary>
/// Checks durability, which a kill cannot show: at each acknowledgement, files and database are on disk before the answer is sent (IMP-2),
/// and nothing is acknowledged if a system call fails (F34, G15).
/// </summary>
[Collection(EndToEndRun.Name)]
[Trait("Category", EndToEndRun.Name)]
[Trait("Category", FailpointBuild.Part)]
public sealed class SystemCallTests
{
    private const int MostSyncs = 3;

    private static readonly string[] OfBlob = ["sync tmp", "rename tmp nzb", "sync blobs"];
    private static readonly string[] OfRow = ["sync sluice.db-wal"];

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task IMP2_Data_is_on_disk_before_the_response_is_sent()
    {
        using var local = new ScratchFolder();
        using var watched = new ScratchFolder();
        await File.WriteAllBytesAsync(local.File("local.nzb"), Film(4).Nzb, Token);
        var settings = new Dictionary<string, string>
        {
            ["SLUICE_CONFIG__API__LOCAL_NZB_DIRS"] = local.Path,
            ["SLUICE_CONFIG__QUEUE__WATCH_DIR"] = watched.Path,
        };
        await using var set = await MockedServer.StartAsync(new MockOptions(), settings, Token);
        // Pauses imports, because their writes would mix with the traced ones.
        using (await set.Client.CallAsync("mode=pause", Token))
        {
        }

        // The first transactions of a process may sync more than their own pages.
        var first = await set.Client.AddFileAsync("movies&priority=-2", "first", Film(0).Nzb, Token);
        // The address of a right password is stored once a day, before the answer, so the first login happens here.
        Assert.Equal(HttpStatusCode.Created, await set.Client.PutNzbAsync("movies", "noted", Film(9).Nzb, Token));
        await ExpectAsync(set, "addfile", [.. OfBlob, .. OfRow], client => client.AddFileAsync("movies&priority=-2", "a", Film(1).Nzb, Token));
        await ExpectAsync(set, "PUT", [.. OfBlob, .. OfRow], async client => Assert.Equal(HttpStatusCode.Created, await client.PutNzbAsync("movies", "b", Film(2).Nzb, Token)));
        await ExpectAsync(set, "PUT under a passing name", ["sync data", "sync tmp", "rename tmp upload", "sync staged"], client => client.PutPassingAsync("movies", "c", Film(3).Nzb, Token));
        await ExpectAsync(set, "MOVE to the name of an NZB", [.. OfBlob, .. OfRow], client => client.MovePassingAsync("movies", "c", Token));
        await ExpectAsync(
            set, "addlocalfile", [.. OfBlob, .. OfRow], client => client.CallAsync($"mode=addlocalfile&priority=-2&name={Uri.EscapeDataString(local.File("local.nzb"))}", Token));
        await ExpectAsync(
            set, "watch folder", [.. OfBlob, .. OfRow], _ => File.WriteAllBytesAsync(watched.File("e.nzb"), Film(5).Nzb, Token), acknowledged: "remove");
        await ExpectAsync(set, "priority", OfRow, client => client.CallAsync($"mode=queue&name=priority&value={first}&value2=1", Token));
        await ExpectAsync(set, "delete", OfRow, client => client.CallAsync($"mode=queue&name=delete&value={first}", Token));
        // Comes last, because its fetch fails and stores the failure during any later call.
        await ExpectAsync(set, "addurl", OfRow, client => client.CallAsync("mode=addurl&priority=-2&name=http://indexer.invalid/a.nzb", Token));
    }

    [Fact]
    public async Task G15_Failed_system_call_acknowledges_and_loses_nothing()
    {
        await using var set = await MockedServer.StartAsync(new MockOptions(), null, Token);
        var ledger = new ItemLedger();
        await AddAsync(set, ledger, 1);
        var wal = Path.Combine(set.Data, "sluice.db-wal");
        var blobs = Path.Combine(set.Data, "blobs");
        (string Path, string Call, string Error)[] faults =
        [
            (wal, "pwrite64", "ENOSPC"), (wal, "pwrite64", "EIO"), (wal, "pwrite64", "EACCES"), (wal, "fsync,fdatasync", "EIO"), (wal, "fsync,fdatasync", "ENOSPC"),
            (blobs, "fsync", "EIO"), (blobs, "fsync", "ENOSPC"), (blobs, "openat", "EACCES"), (blobs, "openat", "EIO"),
        ];
        for (var i = 0; i < faults.Length; i++)
        {
            var (path, call, error) = faults[i];
            var film = Film(100 + i);
            ledger.Ask(film.Name, film.Nzb, film);
            await using (await SystemCallTrace.FailAsync(set.Server.Id, set.File($"fault-{i}"), path, call, error, Token))
            {
                var text = await set.Client.TryAddFileAsync("movies&priority=-2", film.Name, film.Nzb, Token);
                Assert.True(text is "Disk is full" or "Storage unavailable", $"{call} of {Path.GetFileName(path)} fails with {error}: {text}");
                var status = await set.Client.PutNzbAsync("movies", $"put-{i}", film.Nzb, Token);
                Assert.True(status is HttpStatusCode.InsufficientStorage or HttpStatusCode.ServiceUnavailable, $"{call} of {Path.GetFileName(path)} fails with {error}: {status}");
            }

            Assert.Contains("INJECTED", await File.ReadAllTextAsync(set.File($"fault-{i}"), Token), StringComparison.Ordinal);
            await AddAsync(set, ledger, 200 + i);
        }

        Assert.Empty(await new LedgerCheck(ledger, set.Data, set.Client).RunAsync(Token));
        await set.Server.KillAsync();
        await set.RestartAsync(null, Token);
        Assert.Empty(await new LedgerCheck(ledger, set.Data, set.Client).RunAsync(Token));
    }

    [Fact]
    public void Trace_lists_calls_in_order_of_completion()
    {
        string[] lines =
        [
            "12  fsync(45</data/blobs/0a.tmp> <unfinished ...>",
            "13  write(1<pipe:[7]>, \"\"..., 20) = 20",
            "13  rename(\"/data/blobs/0a.tmp\", \"/data/blobs/ff.nzb.br\") = 0",
            "12  <... fsync resumed>)              = 0",
            "13  fdatasync(9</data/sluice.db-wal>) = -1 EIO (Input/output error) (INJECTED)",
            "13  unlink(\"/watched/a.nzb\") = 0",
            "13  unlink(\"/data/blobs/0b.tmp\") = 0",
            "13  sendmsg(50<socket:[88]>, {msg_name=NULL}, MSG_NOSIGNAL) = 180",
        ];

        Assert.Equal(["rename tmp nzb", "sync tmp", "remove", "send"], SystemCallTrace.Read(lines));
    }

    private static async Task ExpectAsync(MockedServer set, string what, string[] expected, Func<SluiceClient, Task> act, string acknowledged = "send")
    {
        var output = set.File($"trace-{what}");
        await using var trace = await SystemCallTrace.WatchAsync(set.Server.Id, output, Token);
        await act(set.Client);
        var calls = await trace.UntilAsync(acknowledged, Token);
        // Ignores moves of blobs that are no longer needed, because they acknowledge nothing.
        Assert.Equal([.. expected, acknowledged], calls.Where(call => expected.Contains(call) || call.StartsWith("sync", StringComparison.Ordinal) || call == acknowledged));
        Assert.InRange(calls.Count(call => call.StartsWith("sync", StringComparison.Ordinal)), 1, MostSyncs);
        TestContext.Current.TestOutputHelper!.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{what}: {string.Join(", ", calls)}"));
    }

    private static async Task AddAsync(MockedServer set, ItemLedger ledger, int seed)
    {
        var item = ledger.Ask(Film(seed).Name, Film(seed).Nzb, Film(seed));
        ledger.Keep(item, await set.Client.AddFileAsync("movies&priority=-2", item.Name, item.Nzb, Token));
    }

    private static SyntheticFilm Film(int seed) => new((ulong)(3000 + seed), 60_000, 30_000);
}
