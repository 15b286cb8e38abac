using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Text.Json.Nodes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Sluice.Server.AdminApi;
using Sluice.Server.Auth;
using Sluice.Server.Events;
using Sluice.Server.Tests.Auth;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Startup;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>The event stream over the wire (ADM-20 to ADM-23, ADM-92, S18).</summary>
public sealed class EventResourceTests : IDisposable
{
    private const string Secret = "correct-horse-battery";

    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Stream_sends_snapshots_first_then_deltas()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        using var stream = await EventStreamClient.WatchAsync(server.Server.Client, "topics=config,setup,logs");

        Assert.Equal("no", Assert.Single(stream.Answer.Headers.GetValues("X-Accel-Buffering")));
        Assert.True(stream.Answer.Headers.CacheControl?.NoStore);
        SeenFrame[] first = [await stream.ReadAsync(), await stream.ReadAsync(), await stream.ReadAsync()];
        Assert.Equal(["config", "setup", "logs"], first.Select(frame => frame.Topic));
        Assert.All(first, frame => Assert.Equal("snapshot", frame.Kind));
        Assert.Equal("account", first[1].Data!["state"]!["step"]!.ToString());

        await server.SaveAsync(HttpStatusCode.OK, ("queue.worker-count", "3"));
        var config = await ReadAsync(stream, "config");
        Assert.Equal(("delta", """["queue.worker-count"]"""), (config.Kind, config.Data!["keys"]!.ToJsonString()));
        Assert.True(config.Seq > first[0].Seq);

        LogResourceTests.Say(server.Server.Services.GetRequiredService<ILoggerFactory>().CreateLogger("Sluice.Server.Queue.X"), LogLevel.Warning, "Look here.");
        var lines = (await ReadAsync(stream, "logs")).Data!["lines"]!.AsArray();
        Assert.Contains(lines, line => line!["text"]!.ToString() == "Look here." && line["source"]!.ToString() == "Queue");
    }

    [Theory]
    [InlineData("topics=nothing")]
    [InlineData("topics=config,nothing")]
    [InlineData("topics=")]
    [InlineData("")]
    public async Task Unknown_topic_is_refused(string query)
    {
        await using var server = await ResourceServer.StartAsync(_temporary);

        using var stream = await EventStreamClient.OpenAsync(server.Server.Client, query);

        Assert.Equal(HttpStatusCode.BadRequest, stream.Answer.StatusCode);
    }

    /// <summary>Rejects pages of other sites. A page of Sluice on a plain LAN address sends neither header (S18).</summary>
    [Theory]
    [InlineData(null, null, HttpStatusCode.OK)]
    [InlineData("own", null, HttpStatusCode.OK)]
    [InlineData("own", "same-origin", HttpStatusCode.OK)]
    [InlineData(null, "same-origin", HttpStatusCode.OK)]
    [InlineData(null, "none", HttpStatusCode.OK)]
    [InlineData("http://evil.example", null, HttpStatusCode.Forbidden)]
    [InlineData("http://evil.example", "cross-site", HttpStatusCode.Forbidden)]
    [InlineData("null", null, HttpStatusCode.Forbidden)]
    [InlineData(null, "cross-site", HttpStatusCode.Forbidden)]
    [InlineData("own", "cross-site", HttpStatusCode.Forbidden)]
    public async Task Cross_site_page_cannot_open_the_stream(string? origin, string? site, HttpStatusCode expected)
    {
        await using var server = await StartAsync(new ManualTimeProvider());
        var cookie = await LogInAsync(server);
        var headers = new List<(string, string)> { ("Cookie", cookie) };
        if (origin is not null)
            headers.Add(("Origin", origin == "own" ? server.Address.GetLeftPart(UriPartial.Authority) : origin));
        if (site is not null)
            headers.Add(("Sec-Fetch-Site", site));

        using var stream = await EventStreamClient.OpenAsync(server.Client, "topics=config", [.. headers]);

        Assert.Equal(expected, stream.Answer.StatusCode);
    }

    [Fact]
    public async Task Stream_without_a_credential_returns_401()
    {
        await using var server = await StartAsync(new ManualTimeProvider());

        using var stream = await EventStreamClient.OpenAsync(server.Client, "topics=config");

        Assert.Equal(HttpStatusCode.Unauthorized, stream.Answer.StatusCode);
    }

    [Fact]
    public async Task Session_end_closes_its_streams()
    {
        await using var server = await StartAsync(new ManualTimeProvider());
        var (leaving, staying) = (await LogInAsync(server), await LogInAsync(server));
        using var ended = await EventStreamClient.WatchAsync(server.Client, "topics=config", ("Cookie", leaving));
        using var kept = await EventStreamClient.WatchAsync(server.Client, "topics=config", ("Cookie", staying));

        await SendAsync(server, HttpMethod.Delete, "session", null, leaving);
        await ended.ReadToEndAsync();

        Assert.Equal("config", (await kept.ReadAsync()).Topic);
        await SendAsync(server, HttpMethod.Put, "account", new JsonObject { ["user"] = "admin", ["oldPassword"] = Secret, ["newPassword"] = "another horse battery" }, staying);
        await kept.ReadToEndAsync();
    }

    [Fact]
    public async Task Removing_a_key_closes_its_stream()
    {
        await using var server = await StartAsync(new ManualTimeProvider());
        var store = server.Services.GetRequiredService<AdminStore>();
        var (row, key) = await store.MakeKeyAsync("reader", hasFullAccess: false, Token);
        using var stream = await EventStreamClient.WatchAsync(server.Client, "topics=config", ("X-Api-Key", key));

        await store.RemoveKeyAsync(row.Id, Token);

        await stream.ReadToEndAsync();
    }

    [Fact]
    public async Task Heartbeat_comment_is_sent_every_interval()
    {
        var time = new ManualTimeProvider();
        await using var server = await StartAsync(time);
        using var stream = await EventStreamClient.WatchAsync(server.Client, "topics=config", ("Cookie", await LogInAsync(server)));
        await stream.ReadAsync();

        for (var i = 0; i < 3; i++)
        {
            time.Advance(EventResource.BeatInterval);
            Assert.Equal("", (await stream.ReadAnyAsync())!.Topic);
        }
    }

    [Fact]
    public async Task Client_resumes_after_its_last_frame()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        using var stream = await EventStreamClient.WatchAsync(server.Server.Client, "topics=config");
        var last = (await stream.ReadAsync()).Id;
        await server.SaveAsync(HttpStatusCode.OK, ("queue.worker-count", "3"));
        await ReadAsync(stream, "config");
        stream.Dispose();
        await server.SaveAsync(HttpStatusCode.OK, ("queue.worker-count", "4"));

        // A browser sends the header itself; the page passes the same id in the query.
        using var byHeader = await EventStreamClient.WatchAsync(server.Server.Client, "topics=config&since=0", ("Last-Event-ID", last));
        using var bySince = await EventStreamClient.WatchAsync(server.Server.Client, $"topics=config&since={last}");
        using var unknown = await EventStreamClient.WatchAsync(server.Server.Client, "topics=config&since=12.1");

        Assert.Equal("delta", (await byHeader.ReadAsync()).Kind);
        Assert.Equal("delta", (await bySince.ReadAsync()).Kind);
        Assert.Equal("snapshot", (await unknown.ReadAsync()).Kind);
    }

    [Fact]
    public async Task Client_gets_a_new_snapshot_after_a_server_restart()
    {
        var server = await ResourceServer.StartAsync(_temporary);
        using var client = new HttpClient { BaseAddress = server.Server.Address };
        client.DefaultRequestHeaders.Add("X-Api-Key", server.Server.Client.DefaultRequestHeaders.GetValues("X-Api-Key"));
        using var stream = await EventStreamClient.WatchAsync(client, "topics=config");
        var snapshot = await stream.ReadAsync();
        var (last, seq) = (snapshot.Id, snapshot.Seq);
        var stopping = server.DisposeAsync().AsTask();
        // The shutdown ends the stream, and the client does not delay it.
        await stream.ReadToEndAsync();
        await stopping;

        await using var next = await ResourceServer.StartAsync(_temporary);
        using var again = await EventStreamClient.WatchAsync(next.Server.Client, "topics=config", ("Last-Event-ID", last));

        var frame = await again.ReadAsync();
        Assert.Equal("snapshot", frame.Kind);
        Assert.True(frame.Seq > seq);
    }

    [Fact]
    public async Task Slow_client_is_dropped_and_others_are_served()
    {
        const int shouts = 64;
        var (time, topic) = (new ManualTimeProvider(), new LoudTopic { Size = 256 << 10 });
        await using var server = await StartAsync(time, topic);
        var cookie = await LogInAsync(server);
        using var slow = new TcpClient { ReceiveBufferSize = 4096 };
        await slow.ConnectAsync(server.Address.Host, server.Address.Port, Token);
        await slow.GetStream().WriteAsync(
            Encoding.ASCII.GetBytes($"GET /api/events?topics=loud HTTP/1.1\r\nHost: {server.Address.Authority}\r\nCookie: {cookie}\r\n\r\n"), Token);
        using var quick = await EventStreamClient.WatchAsync(server.Client, "topics=loud", ("Cookie", cookie));
        await quick.ReadAsync();
        await topic.WatchedAsync(2);

        for (var i = 0; i < shouts; i++)
            Assert.Equal("delta", (await topic.ShoutAsync(time, quick)).Single().Kind);

        Assert.InRange(await CountAsync(slow.GetStream()), 1, (shouts - 1) * (long)topic.Size);
    }

    [Fact]
    public async Task Frame_is_created_once_for_a_hundred_clients()
    {
        var (time, topic) = (new ManualTimeProvider(), new LoudTopic());
        await using var server = await StartAsync(time, topic);
        var cookie = await LogInAsync(server);
        var clients = new List<EventStreamClient>();
        for (var i = 0; i < 100; i++)
            clients.Add(await EventStreamClient.WatchAsync(server.Client, "topics=loud", ("Cookie", cookie)));
        await Task.WhenAll(clients.Select(client => client.ReadAsync()));

        for (var i = 0; i < 5; i++)
            Assert.Single((await topic.ShoutAsync(time, [.. clients])).Select(frame => frame.Seq).Distinct());

        Assert.Equal(5, topic.Takes);
        clients.ForEach(client => client.Dispose());
    }

    /// <summary>Counts the bytes of a connection until it is closed or reset.</summary>
    private static async Task<long> CountAsync(NetworkStream stream)
    {
        var (buffer, total) = (new byte[64 << 10], 0L);
        try
        {
            while (await stream.ReadAsync(buffer, Token) is > 0 and var read)
                total += read;
        }
        catch (IOException)
        {
            // The server has reset the connection.
        }

        return total;
    }

    private static async Task<SeenFrame> ReadAsync(EventStreamClient stream, string topic)
    {
        while (await stream.ReadAsync() is { } frame)
        {
            if (frame.Topic == topic && frame.Kind == "delta")
                return frame;
        }

        throw new EndOfStreamException();
    }

    private Task<RunningServer> StartAsync(TimeProvider time, ITopic? topic = null) => RunningServer.StartAsync(
        _temporary,
        new() { ["SLUICE_ADMIN_PASSWORD"] = QuickHash.Of(Secret) },
        replace: services =>
        {
            services.AddSingleton(time);
            if (topic is not null)
                services.AddSingleton(topic);
        });

    private static async Task<string> LogInAsync(RunningServer server)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, "api/session")
        {
            Content = new StringContent(new JsonObject { ["user"] = "admin", ["password"] = Secret }.ToJsonString(), Encoding.UTF8, "application/json"),
        };
        using var answer = await server.Client.SendAsync(request, Token);
        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        return answer.Headers.GetValues("Set-Cookie").First().Split(';')[0];
    }

    private static async Task SendAsync(RunningServer server, HttpMethod method, string path, JsonObject? body, string cookie)
    {
        using var request = new HttpRequestMessage(method, $"api/{path}");
        request.Headers.Add("Cookie", cookie);
        request.Headers.Add("X-Csrf", "1");
        request.Headers.Add("Origin", server.Address.GetLeftPart(UriPartial.Authority));
        if (body is not null)
            request.Content = new StringContent(body.ToJsonString(), Encoding.UTF8, "application/json");
        using var answer = await server.Client.SendAsync(request, Token);
        Assert.True(answer.IsSuccessStatusCode, $"{method} {path}: {(int)answer.StatusCode} {await answer.Content.ReadAsStringAsync(Token)}");
    }

    /// <summary>A topic with long frames, one for each call of <see cref="ShoutAsync"/>.</summary>
    private sealed class LoudTopic : IChangeTopic
    {
        private Action? _changed;
        private int _takes;
        private int _snapshots;

        public string Name => "loud";

        public int Takes => Volatile.Read(ref _takes);

        public int Snapshots => Volatile.Read(ref _snapshots);

        public int Size { get; init; } = 100;

        /// <summary>Sends one frame, reads it with the given clients, and advances the clock so that the topic can send the next one.</summary>
        public async Task<IReadOnlyList<SeenFrame>> ShoutAsync(ManualTimeProvider time, params EventStreamClient[] clients)
        {
            _changed!();
            var seen = await Task.WhenAll(clients.Select(client => client.ReadAsync()));
            // Wait for the timer that paces the hub, because other timers start and stop with the connections.
            while (!time.IsDueIn(EventHub.FrameInterval))
            {
                Token.ThrowIfCancellationRequested();
                await Task.Yield();
            }

            time.Advance(EventHub.FrameInterval);
            return seen;
        }

        public async Task WatchedAsync(int count)
        {
            while (Snapshots < count)
            {
                Token.ThrowIfCancellationRequested();
                await Task.Yield();
            }
        }

        public IDisposable Begin(Action changed)
        {
            _changed = changed;
            return new CancellationTokenSource();
        }

        public ValueTask<FrameMaker> SnapshotAsync(CancellationToken cancellationToken)
        {
            Interlocked.Increment(ref _snapshots);
            return new(seq => Encoding.ASCII.GetBytes($$"""{"kind":"snapshot","seq":{{seq}}}"""));
        }

        public ValueTask<FrameMaker?> TakeAsync(CancellationToken cancellationToken)
        {
            Interlocked.Increment(ref _takes);
            var text = new string('x', Size);
            return new(seq => Encoding.ASCII.GetBytes($$"""{"kind":"delta","seq":{{seq}},"text":"{{text}}"}"""));
        }
    }
}
