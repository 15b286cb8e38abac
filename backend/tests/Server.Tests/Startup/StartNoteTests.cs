using System.Net;
using Dapper;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Server.Auth;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.FamilyImport;
using Sluice.Server.Tests.Queue;
using Sluice.Testing;
using SQLitePCL;
using Xunit;

namespace Sluice.Server.Tests.Startup;

/// <summary>Records of a start while the storage rejects writes: the server starts anyway, and writes them after the fault (F34).</summary>
public sealed class StartNoteTests : IDisposable
{
    private const string AdminPassword = "a-password-of-the-administrator";

    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Theory]
    [InlineData(raw.SQLITE_FULL)]
    [InlineData(raw.SQLITE_READONLY)]
    public async Task New_settings_start_on_faulty_storage_and_are_confirmed_later(int fault)
    {
        await using (var host = await ProductHost.StartAsync(_temporary))
            Assert.Empty(await host.Get<SettingsStore>().SaveAsync(new Dictionary<string, string?> { ["queue.worker-count"] = "3" }, Token));

        await ServesAsync(
            fault,
            [],
            async host => Assert.False((await host.Get<SettingsStore>().SetsAsync(Token))[0].Proven),
            async host => (await host.Get<SettingsStore>().SetsAsync(Token))[0].Proven);
    }

    [Theory]
    [InlineData(raw.SQLITE_FULL)]
    [InlineData(raw.SQLITE_READONLY)]
    public async Task Generated_link_key_works_at_once_and_is_saved_later(int fault)
    {
        await using (var host = await ProductHost.StartAsync(_temporary))
            await host.Get<SluiceDatabase>().WriteAsync(connection => connection.Execute("DELETE FROM setting WHERE key = 'api.strm-key'"), Token);
        var used = "";

        await ServesAsync(
            fault,
            [],
            host =>
            {
                used = host.Get<SettingsSource>().Current.Text("api.strm-key");
                Assert.NotEmpty(used);
                return Task.CompletedTask;
            },
            async host => await CountAsync(host, "SELECT count(*) FROM setting WHERE key = 'api.strm-key'") == 1);

        await using var next = await ProductHost.StartAsync(_temporary);
        Assert.Equal(used, next.Get<SettingsSource>().Current.Text("api.strm-key"));
    }

    [Theory]
    [InlineData(raw.SQLITE_FULL)]
    [InlineData(raw.SQLITE_READONLY)]
    public async Task Password_reset_is_done_once_the_storage_recovers(int fault)
    {
        await using (var host = await ProductHost.StartAsync(_temporary, null, null, ("SLUICE_ADMIN_PASSWORD", AdminPassword)))
            Assert.NotNull(host.Get<AdminStore>().Admin);

        await ServesAsync(
            fault,
            [("RESET_ADMIN_PASSWORD", "true")],
            host =>
            {
                Assert.NotNull(host.Get<AdminStore>().Admin);
                return Task.CompletedTask;
            },
            host => Task.FromResult(host.Get<AdminStore>().Admin is null && host.Get<SetupCode>().Current is not null));
    }

    [Theory]
    [InlineData(raw.SQLITE_FULL)]
    [InlineData(raw.SQLITE_READONLY)]
    public async Task Import_begins_once_the_storage_recovers(int fault)
    {
        using var old = new OldServer(OldShape.Json, _temporary);
        old.Leave();
        // A first start creates the database, so that the next one writes nothing before the listener runs.
        await using (await ProductHost.StartAsync(_temporary))
        {
        }

        await ServesAsync(
            fault,
            [("SLUICE_IMPORT", "true")],
            async host => Assert.Equal(0, await CountAsync(host, "SELECT count(*) FROM family_import")),
            async host => await CountAsync(host, "SELECT count(*) FROM family_import WHERE finished_at IS NOT NULL") == 1);
    }

    [Fact]
    public async Task Setting_saved_before_the_storage_recovers_is_kept()
    {
        await using (var host = await ProductHost.StartAsync(_temporary))
            await host.Get<SluiceDatabase>().WriteAsync(connection => connection.Execute("DELETE FROM setting WHERE key = 'api.strm-key'"), Token);
        var storage = new FaultyStorage { CommitCode = raw.SQLITE_FULL };
        await using (var host = await ProductHost.StartAsync(_temporary, null, Use(storage)))
        {
            storage.CommitCode = null;
            Assert.Empty(await host.Get<SettingsStore>().SaveAsync(new Dictionary<string, string?> { ["api.strm-key"] = "chosen-by-hand-0123456789" }, Token));
            await UntilAsync(async () => await CountAsync(host, "SELECT count(*) FROM setting WHERE key = 'api.strm-key'") == 1);
        }

        await using var next = await ProductHost.StartAsync(_temporary);
        Assert.Equal("chosen-by-hand-0123456789", next.Get<SettingsSource>().Current.Text("api.strm-key"));
    }

    [Fact]
    public async Task Start_note_is_written_once_the_storage_recovers()
    {
        var time = new ManualTimeProvider();
        var state = new StorageState(time, NullLogger<StorageState>.Instance);
        var notes = new StartNotes(_temporary.Folder, state, time, NullLogger<StartNotes>.Instance);
        var (isFull, written) = (true, new TaskCompletionSource());

        await notes.WriteAsync("a key", _ => WriteAsync(), Token);
        // The note reports no storage fault, because the probe could not clear it and /readyz would stay unavailable.
        Assert.Empty(state.Faults);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(Token);
        var running = notes.RunAsync(stop.Token);
        while (!time.IsDueIn(StorageWatch.Pause))
            await Task.Yield();
        isFull = false;
        time.Advance(StorageWatch.Pause);

        await written.Task.WaitAsync(Token);
        await stop.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => running);

        Task WriteAsync()
        {
            if (isFull)
                throw StorageException.Full(Path.Combine(_temporary.Folder.Keys, "secret.key"));
            written.SetResult();
            return Task.CompletedTask;
        }
    }

    /// <summary>Starts with a storage that rejects writes, checks that the server serves, and then ends the fault.</summary>
    private async Task ServesAsync(int fault, (string, string)[] variables, Func<ProductHost, Task> during, Func<ProductHost, Task<bool>> after)
    {
        var storage = new FaultyStorage { CommitCode = fault };
        await using var host = await ProductHost.StartAsync(_temporary, null, Use(storage), variables);
        using (var answer = await host.Client.GetAsync(new Uri("/healthz", UriKind.Relative), Token))
            Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        await during(host);

        storage.CommitCode = null;
        // StorageWatch sends this probe every half minute.
        await host.Get<SluiceDatabase>().ProbeAsync(Token);
        await UntilAsync(() => after(host));
    }

    private static async Task UntilAsync(Func<Task<bool>> holds)
    {
        while (!await holds())
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
    }

    private static Action<IServiceCollection> Use(FaultyStorage storage) => services => services.AddSingleton<ICommitStep>(storage);

    private static Task<int> CountAsync(ProductHost host, string query) =>
        host.Get<SluiceDatabase>().ReadAsync(connection => connection.ExecuteScalar<int>(query), Token);
}
