using System.Collections.Concurrent;
using System.Net;
using System.Text;
using System.Text.Json;
using Dapper;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Database;
using Sluice.Server.Outbound;
using Sluice.Server.Queue;
using Sluice.Server.Queue.Intake;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Outbound;
using Sluice.Server.Tests.Queue;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.SabApi;

/// <summary>NZBs added by URL (SAB-25): stored durably and fetched later under the rules of S10.</summary>
public sealed class AddUrlTests : IDisposable
{
    private const string Secret = "canary-of-the-indexer";

    private readonly TemporaryFolder _folder = new();
    private readonly ManualTimeProvider _time = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Addurl_returns_an_id_and_shows_Grabbing_until_stored()
    {
        var mayAnswer = new TaskCompletionSource();
        await using var indexer = await FakeIndexer.StartAsync();
        indexer.Answer = async context =>
        {
            await mayAnswer.Task.WaitAsync(context.RequestAborted);
            await FakeIndexer.Give(NzbText.Of("a.mkv"), "attachment; filename=\"Some.Release.nzb\"")(context);
        };
        await using var host = await StartAsync();

        var id = await AddAsync(host, indexer, "&cat=TV&priority=1&password=pw");

        var slot = await SlotAsync(host, id);
        Assert.Equal(
            ("Grabbing", "NZB from indexer.test", "tv", "High", "pw", "0.00"),
            (Text(slot, "status"), Text(slot, "filename"), Text(slot, "cat"), Text(slot, "priority"), Text(slot, "password"), Text(slot, "mb")));
        Assert.Equal(1, await CountAsync(host, "status=Grabbing"));
        Assert.Equal(0, await CountAsync(host, "status=Queued"));
        Assert.DoesNotContain(Secret, await TreeAsync(host), StringComparison.Ordinal);
        Assert.DoesNotContain(".nzb", await TreeAsync(host), StringComparison.Ordinal);
        Assert.StartsWith("enc:v1:", await UrlAsync(host, id), StringComparison.Ordinal);
        mayAnswer.SetResult();
        await UntilStoredAsync(host, id);

        slot = await SlotAsync(host, id);
        // The import starts at once.
        Assert.NotEqual("Grabbing", Text(slot, "status"));
        Assert.Equal(("Some.Release", "tv", "High", "pw"), (Text(slot, "filename"), Text(slot, "cat"), Text(slot, "priority"), Text(slot, "password")));
        Assert.Contains("Some.Release.nzb", await TreeAsync(host), StringComparison.Ordinal);
        Assert.Equal(["indexer.test/get/x.nzb?apikey=" + Secret], indexer.Requests);
    }

    [Fact]
    public async Task URL_is_never_stored_in_plain_text()
    {
        await using var indexer = await FakeIndexer.StartAsync(FakeIndexer.Say(404));
        await using (var host = await StartAsync())
        {
            var id = await AddAsync(host, indexer);
            await host.WaitForHistoryAsync(id, Token);
            Assert.DoesNotContain(Secret, (await host.CallAsync("mode=history", Token)).ToString(), StringComparison.Ordinal);
        }

        foreach (var file in Directory.EnumerateFiles(_folder.Root, "*", SearchOption.AllDirectories))
            Assert.DoesNotContain(Secret, Encoding.Latin1.GetString(await File.ReadAllBytesAsync(file, Token)), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("&nzbname=Given.Name", null, "Given.Name")]
    [InlineData("&nzbname=Given+%7B%7Bpw%7D%7D.nzb", "attachment; filename=other.nzb", "Given")]
    [InlineData("", "attachment; filename=\"Said Name.nzb.gz\"", "Said Name")]
    [InlineData("", "attachment; filename*=UTF-8''S%C3%A4id.nzb", "Säid")]
    [InlineData("", "attachment; filename=\"Säid.nzb\"", "Säid")]
    [InlineData("", "attachment; filename=\"../../etc/Passwd.nzb\"", "Passwd")]
    [InlineData("", null, "x")]
    public async Task Name_comes_from_the_call_the_response_or_the_URL_path(string query, string? disposition, string name)
    {
        await using var indexer = await FakeIndexer.StartAsync(FakeIndexer.Give(NzbText.Of("a.mkv"), disposition));
        await using var host = await StartAsync();

        var id = await AddAsync(host, indexer, query);

        await UntilStoredAsync(host, id);
        Assert.Equal(name, Text(await SlotAsync(host, id), "filename"));
    }

    [Fact]
    public async Task First_NZB_in_a_fetched_zip_keeps_the_item_id()
    {
        var zip = NzbText.Zip(("One.nzb", NzbText.Of("a.mkv")), ("Two.nzb", NzbText.Of("b.mkv")));
        await using var indexer = await FakeIndexer.StartAsync(FakeIndexer.Give(zip));
        await using var host = await StartAsync();

        var id = await AddAsync(host, indexer, "&cat=tv");
        await UntilStoredAsync(host, id);

        var slots = (await host.CallAsync("mode=queue", Token)).GetProperty("queue").GetProperty("slots").EnumerateArray().ToList();
        Assert.Equal([("One", "tv"), ("Two", "tv")], slots.Select(slot => (Text(slot, "filename"), Text(slot, "cat"))));
        Assert.Equal(id, Text(slots[0], "nzo_id"));
        Assert.NotEqual(id, Text(slots[1], "nzo_id"));
    }

    [Theory]
    [InlineData("", "expects one parameter")]
    [InlineData("&name=", "expects one parameter")]
    [InlineData("&name=indexer", "URL refused: it is no address")]
    [InlineData("&name=ftp%3A%2F%2Findexer.example%2Fx", "URL refused: only http and https are fetched")]
    [InlineData("&name=%2Fetc%2Fpasswd", "URL refused: only http and https are fetched")]
    [InlineData("&url=http%3A%2F%2Fu%3Ap%40indexer.example%2Fx", "URL refused: it holds a username or a password")]
    [InlineData("&name=http%3A%2F%2F127.0.0.1%2Fx", "URL refused: the address is not public; add its host to the trusted hosts")]
    [InlineData("&name=http%3A%2F%2F%5B%3A%3A1%5D%2Fx", "URL refused: the address is not public; add its host to the trusted hosts")]
    [InlineData("&name=http%3A%2F%2Findexer.example%3A25%2Fx", "URL refused: port 25 is not allowed; add its host to the trusted hosts")]
    public async Task Forbidden_URL_is_refused_at_once(string query, string error)
    {
        await using var host = await ProductHost.StartAsync(_folder);

        Assert.Equal($$"""{"status":false,"error":"{{error}}"}""", (await host.CallAsync("mode=addurl" + query, Token)).ToString());
        Assert.Equal(0, await CountAsync(host, ""));
    }

    [Fact]
    public async Task Responses_are_available_as_XML()
    {
        await using var indexer = await FakeIndexer.StartAsync(FakeIndexer.Say(503));
        await using var host = await StartAsync();

        var added = await XmlAsync(host, Address(indexer));
        var refused = await XmlAsync(host, "mode=addurl&name=x");

        Assert.Matches(
            """^<\?xml version="1.0" encoding="UTF-8" \?>\s*<result><status>True</status><nzo_ids><item>SABnzbd_nzo_[0-9a-f]{32}</item></nzo_ids></result>\s*$""", added);
        Assert.Matches("""<result><status>False</status><error>URL refused: it is no address</error></result>\s*$""", refused);

        static async Task<string> XmlAsync(ProductHost host, string query)
        {
            using var answer = await host.Client.GetAsync(new Uri($"/api?output=xml&apikey={ProductHost.Key}&{query}", UriKind.Relative), Token);
            return await answer.Content.ReadAsStringAsync(Token);
        }
    }

    [Fact]
    public async Task Host_resolving_to_a_private_address_is_never_contacted()
    {
        await using var indexer = await FakeIndexer.StartAsync(FakeIndexer.Give(NzbText.Of("a.mkv")));
        await using var host = await StartAsync(trusted: "other.test");

        // The port passes the first check, but the name resolves to an address that is not allowed.
        var id = await AddAsync(host, indexer, port: 80);

        var slot = await host.WaitForHistoryAsync(id, Token);
        Assert.Equal("The address is not allowed; add its host to the trusted hosts.", Text(slot, "fail_message"));
        Assert.Empty(indexer.Requests);
    }

    [Fact]
    public async Task Redirect_is_followed_under_the_same_rules()
    {
        await using var indexer = await FakeIndexer.StartAsync();
        await using var host = await StartAsync();
        var port = indexer.Port;
        indexer.Answer = context => context.Request.Path.Value switch
        {
            "/get/x.nzb" => RedirectAsync(context, "/second"),
            "/second" => RedirectAsync(context, $"http://indexer.test:{port}/Third.nzb"),
            "/Third.nzb" => FakeIndexer.Give(NzbText.Of("a.mkv"))(context),
            "/loop" => RedirectAsync(context, "/loop"),
            "/away" => RedirectAsync(context, $"http://evil.test:{port}/secret"),
            "/inside" => RedirectAsync(context, $"http://127.0.0.1:{port}/secret"),
            "/user" => RedirectAsync(context, $"http://u:p@indexer.test:{port}/secret"),
            _ => RedirectAsync(context, "file:///etc/passwd"),
        };

        var followed = await AddAsync(host, indexer);
        await UntilStoredAsync(host, followed);
        Assert.Equal("Third", Text(await SlotAsync(host, followed), "filename"));

        const string refused = "The address is not allowed; add its host to the trusted hosts.";
        foreach (var (path, message) in new[]
        {
            ("loop", "The NZB could not be fetched: its address leads to more than 10 others."), ("away", refused), ("inside", refused), ("user", refused), ("file", refused),
        })
        {
            var id = await AddAsync(host, indexer, path: path);
            Assert.Equal(message, Text(await host.WaitForHistoryAsync(id, Token), "fail_message"));
        }

        Assert.DoesNotContain(indexer.Requests, request => request.Contains("secret", StringComparison.Ordinal));
        Assert.Equal(11, indexer.Requests.Count(request => request.Contains("/loop", StringComparison.Ordinal)));
    }

    [Theory]
    [InlineData("https://a.test/x", "http://a.test/y", null)]
    [InlineData("https://a.test/x", "//b.test/y", "https://b.test/y")]
    [InlineData("http://a.test/x", "https://a.test/y", "https://a.test/y")]
    [InlineData("http://a.test/x/z", "y", "http://a.test/x/y")]
    public void Redirect_from_https_to_http_is_refused(string from, string location, string? to)
    {
        var next = () => GuardedClient.Follow(new Uri(from), new Uri(location, UriKind.RelativeOrAbsolute));

        if (to is null)
            Assert.Throws<AddressRefusedException>(next);
        else
            Assert.Equal(new Uri(to), next());
    }

    [Theory]
    [InlineData(404)]
    [InlineData(401)]
    [InlineData(410)]
    public async Task HTTP_refusal_fails_the_item_and_retry_fetches_again(int status)
    {
        await using var indexer = await FakeIndexer.StartAsync(FakeIndexer.Say(status));
        await using var host = await StartAsync();
        var id = await AddAsync(host, indexer, "&cat=tv");

        var slot = await host.WaitForHistoryAsync(id, Token);
        Assert.Equal(("Failed", $"The NZB could not be fetched: HTTP {status}.", "tv"), (Text(slot, "status"), Text(slot, "fail_message"), Text(slot, "category")));
        Assert.True(slot.GetProperty("retry").GetBoolean());

        indexer.Answer = FakeIndexer.Give(NzbText.Of("a.mkv"), "attachment; filename=Rel.nzb");
        Assert.Equal($$"""{"status":true,"nzo_id":"{{id}}"}""", (await host.CallAsync($"mode=retry&value={id}", Token)).ToString());

        await UntilStoredAsync(host, id);
        Assert.Equal(("Rel", "tv"), (Text(await SlotAsync(host, id), "filename"), Text(await SlotAsync(host, id), "cat")));
        Assert.Equal(0, (await host.CallAsync("mode=history", Token)).GetProperty("history").GetProperty("noofslots").GetInt32());
    }

    [Fact]
    public async Task Response_without_an_NZB_fails_and_forgets_the_URL()
    {
        await using var indexer = await FakeIndexer.StartAsync(FakeIndexer.Give("<html><body>login</body></html>"u8.ToArray()));
        await using var host = await StartAsync();
        var id = await AddAsync(host, indexer);

        Assert.Equal("The file is not an NZB (HTML page).", Text(await host.WaitForHistoryAsync(id, Token), "fail_message"));
        Assert.Null(await host.Get<SluiceDatabase>().ReadAsync(connection => connection.QuerySingle<string?>("SELECT url FROM history_item"), Token));
    }

    [Fact]
    public async Task Body_above_the_limit_fails_the_item()
    {
        await using var indexer = await FakeIndexer.StartAsync(async context =>
        {
            context.Response.ContentLength = (256L << 20) + 1;
            await context.Response.Body.FlushAsync(context.RequestAborted);
            await new TaskCompletionSource().Task.WaitAsync(context.RequestAborted);
        });
        await using var host = await StartAsync();
        var id = await AddAsync(host, indexer);

        Assert.Equal("The NZB is larger than the limits allow (more than 256 MiB).", Text(await host.WaitForHistoryAsync(id, Token), "fail_message"));
    }

    [Theory]
    [InlineData(429)]
    [InlineData(500)]
    [InlineData(502)]
    [InlineData(503)]
    public async Task Temporary_error_is_retried_ten_times_with_backoff(int status)
    {
        await using var indexer = await FakeIndexer.StartAsync(FakeIndexer.Say(status));
        await using var host = await StartAsync(withClock: true);
        var id = await AddAsync(host, indexer);

        for (var tries = 1; tries < UrlFetchWorker.MaxTries; tries++)
        {
            var after = await UntilTriedAsync(host, id, tries);
            Assert.Equal(TimeSpan.FromSeconds(Math.Min(60 * tries, 600)), after);
            Assert.Equal("Grabbing", Text(await SlotAsync(host, id), "status"));
            _time.Advance(after);
        }

        await UntilFetchedAsync(host, id);
        Assert.Equal($"The NZB could not be fetched: HTTP {status}.", Text(await host.WaitForHistoryAsync(id, Token), "fail_message"));
        Assert.Equal(UrlFetchWorker.MaxTries, indexer.Requests.Count);
    }

    [Fact]
    public async Task Retry_After_header_is_respected_up_to_a_day()
    {
        await using var indexer = await FakeIndexer.StartAsync(FakeIndexer.Say(429, retryAfter: "7"));
        await using var host = await StartAsync(withClock: true);
        var id = await AddAsync(host, indexer);

        Assert.Equal(TimeSpan.FromSeconds(7), await UntilTriedAsync(host, id, 1));
        indexer.Answer = FakeIndexer.Say(503, retryAfter: (_time.GetUtcNow() + TimeSpan.FromSeconds(100)).ToString("R", System.Globalization.CultureInfo.InvariantCulture));
        _time.Advance(TimeSpan.FromSeconds(7));
        Assert.Equal(TimeSpan.FromSeconds(93), await UntilTriedAsync(host, id, 2));
        indexer.Answer = FakeIndexer.Say(503, retryAfter: "100000000");
        _time.Advance(TimeSpan.FromSeconds(93));
        Assert.Equal(TimeSpan.FromDays(1), await UntilTriedAsync(host, id, 3));
        indexer.Answer = FakeIndexer.Give(NzbText.Of("a.mkv"));
        _time.Advance(TimeSpan.FromDays(1));

        await UntilFetchedAsync(host, id);
        await UntilStoredAsync(host, id);
    }

    [Fact]
    public async Task Waking_the_worker_does_not_retry_early()
    {
        await using var indexer = await FakeIndexer.StartAsync(FakeIndexer.Say(503));
        await using var host = await StartAsync(withClock: true);
        for (var i = 0; i < 40; i++)
        {
            var id = await AddAsync(host, indexer);
            while (await TriesAsync(host, id) < 1)
                host.Get<UrlFetchWorker>().Wake();
        }

        await host.Get<UrlFetchWorker>().FinishAsync(Token);
        Assert.Equal(40, indexer.Requests.Count);
    }

    [Fact]
    public async Task Timer_alone_starts_the_next_try()
    {
        var asked = new ConcurrentQueue<DateTimeOffset>();
        await using var indexer = await FakeIndexer.StartAsync(context =>
        {
            asked.Enqueue(_time.GetUtcNow());
            return FakeIndexer.Say(429, retryAfter: "7")(context);
        });
        await using var host = await StartAsync(withClock: true);
        var id = await AddAsync(host, indexer);
        Assert.Equal(TimeSpan.FromSeconds(7), await UntilTriedAsync(host, id, 1));

        // From here on only the worker's own timer ends its wait. The wait may start during any of these seconds.
        for (var seconds = 1; asked.Count < 2; seconds++)
        {
            Assert.InRange(seconds, 1, 40);
            _time.Advance(TimeSpan.FromSeconds(1));
            await Task.Delay(TimeSpan.FromMilliseconds(100), TimeProvider.System, Token);
        }

        Assert.InRange(asked.Last() - asked.First(), TimeSpan.FromSeconds(7), TimeSpan.FromSeconds(40));
    }

    [Fact]
    public async Task Stalled_download_times_out_after_a_minute_and_retries()
    {
        var asked = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var indexer = await FakeIndexer.StartAsync(async context =>
        {
            await context.Response.Body.WriteAsync("<nzb"u8.ToArray(), context.RequestAborted);
            await context.Response.Body.FlushAsync(context.RequestAborted);
            asked.TrySetResult();
            await new TaskCompletionSource().Task.WaitAsync(context.RequestAborted);
        });
        await using var host = await StartAsync(withClock: true);
        var id = await AddAsync(host, indexer);
        await asked.Task.WaitAsync(Token);

        _time.Advance(TimeSpan.FromSeconds(59));
        Assert.Equal(0, await TriesAsync(host, id));
        _time.Advance(TimeSpan.FromSeconds(1));

        Assert.Equal(TimeSpan.FromSeconds(60), await UntilTriedAsync(host, id, 1));
        Assert.Empty(Directory.GetFiles(_folder.Folder.Blobs));
    }

    [Fact]
    public async Task Restart_resumes_fetching_with_the_same_try_count()
    {
        await using var indexer = await FakeIndexer.StartAsync(FakeIndexer.Say(503));
        string id;
        await using (var host = await StartAsync(withClock: true))
        {
            id = await AddAsync(host, indexer);
            await UntilTriedAsync(host, id, 1);
        }

        indexer.Answer = FakeIndexer.Give(NzbText.Of("a.mkv"));
        await using (var host = await StartAsync(withClock: true))
        {
            Assert.Equal(1, await TriesAsync(host, id));
            _time.Advance(TimeSpan.FromSeconds(60));
            await UntilFetchedAsync(host, id);
            await UntilStoredAsync(host, id);
        }
    }

    [Fact]
    public async Task Item_deleted_during_the_fetch_stays_deleted()
    {
        var mayAnswer = new TaskCompletionSource();
        var asked = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var indexer = await FakeIndexer.StartAsync();
        indexer.Answer = async context =>
        {
            asked.TrySetResult();
            await mayAnswer.Task.WaitAsync(context.RequestAborted);
            await FakeIndexer.Give(NzbText.Of("a.mkv"))(context);
        };
        await using var host = await StartAsync();
        var first = await AddAsync(host, indexer);
        await asked.Task.WaitAsync(Token);

        Assert.Equal($$"""{"status":true,"nzo_ids":["{{first}}"]}""", (await host.CallAsync($"mode=queue&name=delete&value={first}", Token)).ToString());
        mayAnswer.SetResult();
        var second = await AddAsync(host, indexer);
        await UntilStoredAsync(host, second);

        var slots = (await host.CallAsync("mode=queue", Token)).GetProperty("queue").GetProperty("slots").EnumerateArray();
        Assert.Equal([second], slots.Select(slot => Text(slot, "nzo_id")));
        Assert.Equal(0, (await host.CallAsync("mode=history", Token)).GetProperty("history").GetProperty("noofslots").GetInt32());
    }

    [Fact]
    public async Task Category_and_name_changed_during_the_fetch_apply()
    {
        var mayAnswer = new TaskCompletionSource();
        await using var indexer = await FakeIndexer.StartAsync();
        indexer.Answer = async context =>
        {
            await mayAnswer.Task.WaitAsync(context.RequestAborted);
            await FakeIndexer.Give(NzbText.Of("a.mkv"), "attachment; filename=Rel.nzb")(context);
        };
        await using var host = await StartAsync();
        var (moved, renamed) = (await AddAsync(host, indexer), await AddAsync(host, indexer));

        await host.CallAsync($"mode=change_cat&value={moved}&value2=movies", Token);
        await host.CallAsync($"mode=queue&name=rename&value={renamed}&value2=Mine", Token);
        mayAnswer.SetResult();
        await UntilStoredAsync(host, moved);
        await UntilStoredAsync(host, renamed);

        Assert.Equal(("Rel", "movies"), (Text(await SlotAsync(host, moved), "filename"), Text(await SlotAsync(host, moved), "cat")));
        Assert.Equal(("Mine", "*"), (Text(await SlotAsync(host, renamed), "filename"), Text(await SlotAsync(host, renamed), "cat")));
    }

    [Fact]
    public async Task Full_queue_and_full_disk_refuse()
    {
        var files = new RecordingBlobFiles();
        await using var host = await ProductHost.StartAsync(
            _folder, null, services => services.AddSingleton<IBlobFiles>(files), ("SLUICE_CONFIG__QUEUE__MAX_ITEMS", "1"));
        const string query = "mode=addurl&name=http%3A%2F%2Findexer.invalid%2Fx&priority=-2";

        files.Free = (64 << 20) - 1;
        Assert.Equal("""{"status":false,"error":"Disk is full"}""", (await host.CallAsync(query, Token)).ToString());
        files.Free = null;
        await host.AddAsync(NzbText.Of("a.mkv"), "a.nzb", Token);
        Assert.Equal("""{"status":false,"error":"Queue is full"}""", (await host.CallAsync(query, Token)).ToString());
    }

    /// <summary>A server that resolves every name to this machine.</summary>
    private Task<ProductHost> StartAsync(string trusted = "indexer.test", bool withClock = false) => ProductHost.StartAsync(
        _folder,
        null,
        services =>
        {
            services.AddSingleton(new HostLookup((_, _) => Task.FromResult<IPAddress[]>([IPAddress.Loopback])));
            if (withClock)
                services.AddSingleton<TimeProvider>(_time);
        },
        ("SLUICE_CONFIG__API__ADDURL_TRUSTED_HOSTS", trusted));

    private static async Task<string> AddAsync(ProductHost host, FakeIndexer indexer, string query = "", string path = "get/x.nzb", int? port = null)
    {
        var answer = await host.CallAsync(Address(indexer, path, port) + query, Token);
        Assert.True(answer.GetProperty("status").GetBoolean(), answer.ToString());
        return Assert.Single(answer.GetProperty("nzo_ids").EnumerateArray()).GetString()!;
    }

    private static string Address(FakeIndexer indexer, string path = "get/x.nzb", int? port = null) =>
        "mode=addurl&name=" + Uri.EscapeDataString($"http://indexer.test:{port ?? indexer.Port}/{path}?apikey={Secret}");

    private static Task RedirectAsync(HttpContext context, string to)
    {
        context.Response.StatusCode = StatusCodes.Status302Found;
        context.Response.Headers.Location = to;
        return Task.CompletedTask;
    }

    private static string Text(JsonElement slot, string field) => slot.GetProperty(field).GetString()!;

    private static async Task<JsonElement> SlotAsync(ProductHost host, string id) => Assert.Single(
        (await host.CallAsync($"mode=queue&nzo_ids={id}", Token)).GetProperty("queue").GetProperty("slots").EnumerateArray());

    private static async Task<int> CountAsync(ProductHost host, string query) =>
        (await host.CallAsync($"mode=queue&{query}", Token)).GetProperty("queue").GetProperty("noofslots").GetInt32();

    private static async Task<string> TreeAsync(ProductHost host)
    {
        using var answer = await host.SendAsync(new HttpMethod("PROPFIND"), "/nzbs/tv/", null, Token);
        return await answer.Content.ReadAsStringAsync(Token);
    }

    private static Task<string?> UrlAsync(ProductHost host, string id) => host.Get<SluiceDatabase>().ReadAsync(
        connection => connection.QuerySingleOrDefault<string?>("SELECT url FROM queue_item WHERE id = @id", new { id }), Token);

    private static Task<int> TriesAsync(ProductHost host, string id) => host.Get<SluiceDatabase>().ReadAsync(
        connection => connection.ExecuteScalar<int>("SELECT fetch_tries FROM queue_item WHERE id = @id", new { id }), Token);

    /// <summary>Waits until the NZB of an item is stored.</summary>
    private static async Task UntilStoredAsync(ProductHost host, string id)
    {
        while (await UrlAsync(host, id) is not null)
            await Task.Delay(TimeSpan.FromMilliseconds(10), TimeProvider.System, Token);
        Assert.NotNull(await host.Get<QueueStore>().FindAsync(id, Token));
    }

    /// <summary>Waits until the item has been fetched.</summary>
    private static async Task UntilFetchedAsync(ProductHost host, string id)
    {
        while (await UrlAsync(host, id) is not null)
            await PollAsync(host);
    }

    /// <summary>
    /// Wakes the worker and waits a moment. If the clock had moved between the worker's check and its wait, that wait would need another move,
    /// and a move during a fetch would let the fetch time out.
    /// </summary>
    private static Task PollAsync(ProductHost host)
    {
        host.Get<UrlFetchWorker>().Wake();
        return Task.Delay(TimeSpan.FromMilliseconds(10), TimeProvider.System, Token);
    }

    /// <summary>Waits until an item has been tried this many times.</summary>
    /// <returns>The time until the next try.</returns>
    private async Task<TimeSpan> UntilTriedAsync(ProductHost host, string id, int tries)
    {
        while (await TriesAsync(host, id) < tries)
            await PollAsync(host);
        var due = await host.Get<SluiceDatabase>().ReadAsync(
            connection => connection.ExecuteScalar<long>("SELECT fetch_at FROM queue_item WHERE id = @id", new { id }), Token);
        return TimeSpan.FromMilliseconds(due - _time.GetUtcNow().ToUnixTimeMilliseconds());
    }
}
