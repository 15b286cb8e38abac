using Dapper;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.History;
using Sluice.Server.Queue;
using Sluice.Server.Queue.Intake;
using Sluice.Server.Queue.Steps;
using Sluice.Server.Tests.AdminApi;
using Sluice.Server.Tests.Database;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.Queue;

/// <summary>Archive passwords in the rows of the queue and the history.</summary>
public sealed class ItemPasswordTests : IDisposable
{
    private const string Canary = "canary-password";

    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private string KeyFile => Path.Combine(_temporary.Folder.Keys, "secret.key");

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Password_is_encrypted_at_rest_and_readable_by_clients()
    {
        await using var server = await JobServer.StartAsync(_temporary);
        await server.AddAsync("Form", ("password", Canary));
        await server.Host.PutAsync("/nzbs/Put{{" + Canary + "}}.nzb", NzbText.Of("a.mkv"), Token);
        using (await server.Host.PostFileAsync(NzbText.Of("b.mkv"), "Posted.nzb", "&password=" + Canary, Token))
        {
            // The item is in the queue now.
        }

        var renamed = await server.AddAsync("Named");
        await server.Host.CallAsync($"mode=queue&name=rename&value={renamed}&value2=Other&value3={Canary}", Token);

        var kept = await KeptAsync(server.Host.Get<SluiceDatabase>(), "queue_item");
        Assert.Equal(4, kept.Count);
        Assert.All(kept, row => Assert.StartsWith("enc:v1:", row.Password, StringComparison.Ordinal));
        var slots = (await server.Host.CallAsync("mode=queue", Token)).GetProperty("queue").GetProperty("slots");
        Assert.All(slots.EnumerateArray(), slot => Assert.Equal(Canary, slot.GetProperty("password").GetString()));
    }

    [Fact]
    public async Task Retry_from_history_restores_the_password()
    {
        await using var server = await JobServer.StartAsync(_temporary);
        var id = await server.AddAsync("Some.Release", ("password", Canary));
        var database = server.Host.Get<SluiceDatabase>();
        await database.WriteAsync(
            connection =>
            {
                HistoryStore.Insert(connection, FailedItem.Of(QueueStore.Remove(connection, id)!, ImportFailure.WrongPassword(), [], DateTimeOffset.UnixEpoch));
                return true;
            },
            Token);
        Assert.StartsWith("enc:v1:", Assert.Single(await KeptAsync(database, "history_item")).Password, StringComparison.Ordinal);
        var ended = (await server.Host.CallAsync("mode=history", Token)).GetProperty("history").GetProperty("slots").EnumerateArray().Single();
        Assert.Equal(Canary, ended.GetProperty("password").GetString());

        await server.Host.CallAsync($"mode=retry&value={id}", Token);

        var slot = (await server.Host.CallAsync("mode=queue", Token)).GetProperty("queue").GetProperty("slots").EnumerateArray().Single();
        Assert.Equal(Canary, slot.GetProperty("password").GetString());
    }

    [Fact]
    public async Task Item_with_a_locked_password_waits_for_the_key()
    {
        string id;
        await using (var server = await JobServer.StartAsync(_temporary))
            id = await server.AddAsync("Some.Release", ("password", Canary));
        var key = await File.ReadAllBytesAsync(KeyFile, Token);
        File.Delete(KeyFile);

        await using (var server = await JobServer.StartAsync(_temporary))
        {
            var (end, cause) = await server.Host.Get<ImportJob>().RunAsync(id, Token);
            Assert.Equal(ImportEnd.Waits, end);
            Assert.Contains("secret.key cannot be used", cause, StringComparison.Ordinal);
            Assert.Equal("Its password is locked, because keys/secret.key is missing.", (await server.ListAsync("queue")).Single()["sentence"]!.ToString());
            var slot = (await server.Host.CallAsync("mode=queue", Token)).GetProperty("queue").GetProperty("slots").EnumerateArray().Single();
            Assert.Equal("", slot.GetProperty("password").GetString());
        }

        await File.WriteAllBytesAsync(KeyFile, key, Token);
        await using var again = await JobServer.StartAsync(_temporary);
        var item = (await again.Host.Get<QueueStore>().FindAsync(id, Token))!;
        Assert.Equal(Canary, again.Host.Get<ItemPasswords>().Require(item.Id, item.Password));
    }

    [Fact]
    public async Task Locked_password_of_an_earlier_item_does_not_block_a_new_one()
    {
        await using var mock = await MockServer.StartAsync();
        var film = new MockRelease("film", 1, [new MockFile { Name = "film.mkv", Size = 60_000, ArticleSize = 20_000 }]);
        mock.Post(film);
        await using (var host = await ProductHost.StartAsync(_temporary, mock))
        {
            await host.WaitForHistoryAsync((await host.AddAsync(film.ToNzb(), "Film.nzb", Token, "&cat=tv&password=" + Canary))[0], Token);
            Assert.StartsWith("enc:v1:", Assert.Single(await KeptAsync(host.Get<SluiceDatabase>(), "history_item")).Password, StringComparison.Ordinal);
        }

        File.Delete(KeyFile);
        await using var again = await ProductHost.StartAsync(_temporary, mock);
        var slot = await again.WaitForHistoryAsync((await again.AddAsync(film.ToNzb(), "Film.nzb", Token, "&cat=tv"))[0], Token);

        // Without the key the earlier item may have had a password, so its release is not shared.
        Assert.Equal("/mnt/sluice/completed-symlinks/tv/Film (2)", slot.GetProperty("storage").GetString());
        using var content = await again.SendAsync(HttpMethod.Head, "/content/tv/Film (2)/film.mkv", null, Token);
        Assert.Equal(60_000, content.Content.Headers.ContentLength);
    }

    [Fact]
    public async Task Item_with_a_locked_URL_waits_without_a_fetch()
    {
        string id;
        await using (var server = await JobServer.StartAsync(_temporary, null, null, ("SLUICE_CONFIG__API__ADDURL_TRUSTED_HOSTS", "*")))
        {
            var answer = await server.SendAsync(HttpMethod.Post, "queue/address", new System.Text.Json.Nodes.JsonObject { ["url"] = "http://127.0.0.1:9/canary" });
            id = answer["ids"]![0]!.ToString();
        }

        File.Delete(KeyFile);
        await using var again = await JobServer.StartAsync(_temporary, null, null, ("SLUICE_CONFIG__API__ADDURL_TRUSTED_HOSTS", "*"));
        var tries = (await again.Host.Get<QueueStore>().FindAsync(id, Token))!.FetchTries;
        again.Host.Get<UrlFetchWorker>().Wake();
        // The worker processes the queue in turn, and must not end the item.
        await again.Host.CallAsync("mode=queue", Token);
        Assert.Equal(tries, (await again.Host.Get<QueueStore>().FindAsync(id, Token))!.FetchTries);
        Assert.Empty((await again.Host.CallAsync("mode=history", Token)).GetProperty("history").GetProperty("slots").EnumerateArray());
        // A new URL is rejected, because it cannot be encrypted without the key.
        await again.SendAsync(
            HttpMethod.Post, "queue/address", new System.Text.Json.Nodes.JsonObject { ["url"] = "http://127.0.0.1:9/other" }, System.Net.HttpStatusCode.ServiceUnavailable);
    }

    [Fact]
    public async Task Password_added_without_the_key_is_encrypted_later()
    {
        await using (var server = await JobServer.StartAsync(_temporary))
            Assert.True(File.Exists(KeyFile));
        var key = await File.ReadAllBytesAsync(KeyFile, Token);
        File.Delete(KeyFile);
        string id;
        await using (var server = await JobServer.StartAsync(_temporary))
        {
            id = await server.AddAsync("Some.Release", ("password", Canary));
            Assert.Equal(Canary, Assert.Single(await KeptAsync(server.Host.Get<SluiceDatabase>(), "queue_item")).Password);
        }

        Assert.False(File.Exists(KeyFile));
        await File.WriteAllBytesAsync(KeyFile, key, Token);
        await using var again = await JobServer.StartAsync(_temporary);
        await SealAsync(again);
        Assert.StartsWith("enc:v1:", Assert.Single(await KeptAsync(again.Host.Get<SluiceDatabase>(), "queue_item")).Password, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Plain_passwords_from_an_old_version_are_encrypted(bool hasKey)
    {
        await using (await JobServer.StartAsync(_temporary))
        {
            // This start creates the key file.
        }

        var key = await File.ReadAllBytesAsync(KeyFile, Token);
        await MakeEarlierAsync(rows: 1_201);
        if (!hasKey)
        {
            File.Delete(KeyFile);
            await using (var locked = await JobServer.StartAsync(_temporary))
            {
                await SealAsync(locked);
                Assert.All(await KeptAsync(locked.Host.Get<SluiceDatabase>(), "history_item"), row => Assert.Equal(Canary + row.Id, row.Password));
            }

            await File.WriteAllBytesAsync(KeyFile, key, Token);
        }

        await using var server = await JobServer.StartAsync(_temporary);
        await SealAsync(server);
        var database = server.Host.Get<SluiceDatabase>();
        var passwords = server.Host.Get<ItemPasswords>();
        foreach (var (table, count) in new[] { ("queue_item", 1), ("history_item", 1_201) })
        {
            var kept = await KeptAsync(database, table);
            Assert.Equal(count, kept.Count);
            Assert.All(kept, row => Assert.StartsWith("enc:v1:", row.Password, StringComparison.Ordinal));
            Assert.All(kept, row => Assert.Equal(Canary + row.Id, passwords.Require(row.Id, row.Password)));
        }

        // The list of remaining rows is a partial index, which is empty afterwards.
        var steps = await database.ExplainAsync(
            "SELECT id FROM history_item INDEXED BY history_item_plain WHERE password <> '' AND substr(password, 1, 7) <> 'enc:v1:'", new { });
        Assert.Contains("history_item_plain", Assert.Single(steps), StringComparison.Ordinal);
    }

    private static Task<List<KeptPassword>> KeptAsync(SluiceDatabase database, string table) =>
        database.ReadAsync(connection => connection.Query<KeptPassword>($"SELECT id AS Id, password AS Password FROM {table} WHERE password <> '' ORDER BY id").ToList(), Token);

    private static Task SealAsync(JobServer server) =>
        server.Host.Get<IEnumerable<IWorker>>().OfType<PasswordSealWorker>().Single().RunAsync(Token);

    /// <summary>Replaces the database by one from before the encryption of passwords, with the same key file and blobs.</summary>
    private async Task MakeEarlierAsync(int rows)
    {
        string links;
        await using (var current = _temporary.OpenDatabase())
        {
            links = await current.ReadAsync(
                connection => connection.QuerySingle<string>(
                    """
                    SELECT 'DELETE FROM generation; INSERT INTO generation VALUES (''' || g.id || ''', ' || g.epoch || '); INSERT INTO secret_key VALUES (1, ''' || fingerprint || ''')'
                    FROM generation g, secret_key
                    """),
                Token);
        }

        foreach (var file in Directory.GetFiles(_temporary.Root, "sluice.db*"))
            File.Delete(file);
        await using var database = _temporary.OpenDatabase(
            [.. Migration.LoadEmbedded().TakeWhile(migration => !migration.Name.EndsWith("sealed_passwords.sql", StringComparison.Ordinal))]);
        await database.WriteAsync(
            connection =>
            {
                connection.Execute(links);
                var item = new QueueItem
                {
                    Id = "q",
                    Name = "q",
                    NzbName = "q.nzb",
                    Category = "*",
                    Folder = "uncategorized",
                    NzbHash = "",
                    Paused = true,
                    Password = Canary + "q",
                };
                QueueStore.Insert(connection, item, file: 0);
                for (var row = 0; row < rows; row++)
                {
                    var id = row.ToString("D4", System.Globalization.CultureInfo.InvariantCulture);
                    connection.Execute(
                        """
                        INSERT INTO history_item (id, name, nzb_name, category, folder, priority, password, post_processing, script, encoded_bytes, bytes,
                          fail_message, added_at, started_at, completed_at, steps, folded)
                        VALUES (@id, @id, @id, '*', 'x', 0, @password, -1, '', 0, 0, '', 1, 1, 1764400000000, '[]', @id)
                        """,
                        new { id, password = Canary + id });
                }

                return true;
            },
            Token);
    }
}
