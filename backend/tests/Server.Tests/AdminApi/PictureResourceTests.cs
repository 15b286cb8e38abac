using System.Net;
using System.Net.Http.Headers;
using Dapper;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.AdminApi;
using Sluice.Server.Auth;
using Sluice.Server.Database;
using Sluice.Server.Library;
using Sluice.Server.Tests.Auth;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.EndToEnd;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Usenet.Streams.Maps;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>Pictures of films by the API (ADM-60, S34).</summary>
public sealed class PictureResourceTests : IDisposable
{
    private static readonly DateTimeOffset Published = new(2026, 1, 3, 10, 0, 0, TimeSpan.Zero);

    private readonly TemporaryFolder _temporary = new();
    private int _releases;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Theory]
    [InlineData("image/webp")]
    [InlineData("image/png")]
    [InlineData("image/jpeg")]
    public async Task Still_is_served_as_immutable_with_its_detected_type(string type)
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        var film = await PublishAsync(server);
        byte[] picture = type switch { "image/png" => TestPictures.Png(320, 180), "image/jpeg" => TestPictures.Jpeg(320, 180), _ => TestPictures.WebP(320, 180) };
        Assert.Null(await PictureAsync(server));
        Assert.True((await server.GetAsync($"files/{film}"))["wantsStill"]!.GetValue<bool>());

        // The type that the sender names says nothing.
        Assert.Equal(HttpStatusCode.NoContent, await PutAsync(server, film, picture, "image/jpeg"));

        Assert.False((await server.GetAsync($"files/{film}"))["wantsStill"]!.GetValue<bool>());
        using var answer = await ShowAsync(server, await PictureAsync(server));
        Assert.Equal((HttpStatusCode.OK, type), (answer.StatusCode, answer.Content.Headers.ContentType?.ToString()));
        Assert.Equal(picture, await answer.Content.ReadAsByteArrayAsync(Token));
        Assert.Equal("max-age=31536000, private, immutable", answer.Headers.CacheControl?.ToString());
        Assert.Equal("nosniff", Assert.Single(answer.Headers.GetValues("X-Content-Type-Options")));
        Assert.Contains("sandbox", Assert.Single(answer.Headers.GetValues("Content-Security-Policy")), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Hostile_uploads_are_refused()
    {
        await using var server = await ResourceServer.StartAsync(_temporary, new() { ["SLUICE_ADMIN_PASSWORD"] = QuickHash.Of("correct-horse-battery") });
        var film = await PublishAsync(server);
        var subtitle = await PublishAsync(server, "film.srt");
        var clip = new BuiltInClip().File.Id.ToString("D");
        var good = TestPictures.WebP(320, 180);
        const string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>";
        const string html = "<!DOCTYPE html><script>alert(1)</script>";
        var texts = new[]
        {
            svg, "<?xml version=\"1.0\"?>" + svg, "\uFEFF" + svg, "  \n" + svg, "<!--" + new string('-', 2_000) + "-->" + svg, html, "<html><body onload=alert(1)>", "<script>alert(1)</script>",
            "alert(1)", "%PDF-1.7", "#!/bin/sh\necho", "{\"a\":1}", "GIF89a\u0001\u0000\u0001\u0000", "BM\u0000\u0000", "\u0000\u0000\u0001\u0000", "", "RIFF", "RIFF\u0000\u0000\u0000\u0000WEBP", "data:image/png;base64,AAAA",
        };
        var hostile = new List<(string Id, byte[] Body, string Type)>();
        foreach (var text in texts)
            hostile.Add((film, TestPictures.Text(text), "image/png"));
        foreach (var type in new[] { "image/svg+xml", "text/html", "text/xml", "application/xhtml+xml", "application/javascript", "multipart/form-data; boundary=a", "application/json", "text/plain" })
            hostile.Add((film, good, type));
        hostile.AddRange(
        [
            (film, TestPictures.WebP(320, 180, 10_000_000), "image/webp"), (film, TestPictures.WebP(320, 180, 20_001), "image/webp"), (film, TestPictures.Jpeg(60_000, 60_000), "image/jpeg"),
            (film, TestPictures.Png(int.MaxValue, 1), "image/png"), (film, TestPictures.LosslessWebP(16_383, 16_383), "image/webp"), (film, TestPictures.ExtendedWebP(320, 180, 0x02), "image/webp"),
            (film, TestPictures.Png(0, 0), "image/png"), (film, [.. "acTL"u8, .. TestPictures.Png(320, 180)], "image/png"),
            (Guid.NewGuid().ToString("D"), good, "image/webp"), ("no-id", good, "image/webp"), ("..%2f..%2fsluice.db", good, "image/webp"), (clip, good, "image/webp"), (subtitle, good, "image/webp"),
        ]);
        Assert.True(hostile.Count >= 40, $"{hostile.Count}");

        foreach (var (id, body, type) in hostile)
        {
            var status = await PutAsync(server, id, body, type);
            Assert.True((int)status is 400 or 404 or 413, $"{type}, {body.Length} bytes at {id}: {(int)status}");
        }

        // A body without a length, and a session of a page of another site or without its header.
        Assert.Equal(HttpStatusCode.RequestEntityTooLarge, await PutAsync(server, film, TestPictures.WebP(320, 180, 100_000), "image/webp", isChunked: true));
        var store = server.Server.Services.GetRequiredService<AdminStore>();
        var here = server.Server.Address.GetLeftPart(UriPartial.Authority);
        foreach (var (name, value) in new[] { ("Origin", here), ("Origin", "http://evil.example"), ("X-Csrf", "1") })
        {
            using var stranger = new HttpClient(new SocketsHttpHandler { UseCookies = false }) { BaseAddress = server.Server.Address };
            using var request = Put(film, good, "image/webp");
            request.Headers.TryAddWithoutValidation(name, value);
            Assert.Equal(HttpStatusCode.Unauthorized, (await stranger.SendAsync(request, Token)).StatusCode);
            using var again = Put(film, good, "image/webp");
            again.Headers.TryAddWithoutValidation(name, value);
            again.Headers.TryAddWithoutValidation("Cookie", $"{AdminDoor.CookieOf(store)}={await store.OpenSessionAsync(new SessionPlace("127.0.0.1", ""), Token)}");
            Assert.Equal(HttpStatusCode.Forbidden, (await stranger.SendAsync(again, Token)).StatusCode);
        }

        Assert.Null(await PictureAsync(server));
        Assert.Empty(Files());
    }

    [Theory]
    [InlineData("DELETE FROM release")]
    [InlineData("DELETE FROM library_file")]
    public async Task Picture_is_deleted_with_its_film(string removal)
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        var film = await PublishAsync(server);
        await PutAsync(server, film, TestPictures.WebP(320, 180));
        var hash = await PictureAsync(server);
        Assert.Equal(hash, Path.GetFileName(Assert.Single(Files())));

        await Database(server).WriteAsync(connection => connection.Execute(removal), Token);

        using var answer = await ShowAsync(server, hash);
        Assert.Equal(HttpStatusCode.NotFound, answer.StatusCode);
        await Database(server).WriteAsync(connection => connection.Execute("DELETE FROM release"), Token);
        await UntilNoFileAsync();
    }

    [Fact]
    public async Task Second_still_replaces_the_first()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        var film = await PublishAsync(server);
        await PutAsync(server, film, TestPictures.WebP(320, 180, seed: 1));
        var first = await PictureAsync(server);
        await PutAsync(server, film, TestPictures.WebP(320, 180, seed: 2));

        using var answer = await ShowAsync(server, first);
        Assert.Equal(HttpStatusCode.NotFound, answer.StatusCode);
        Assert.Equal(await PictureAsync(server), Path.GetFileName(Assert.Single(Files())));
    }

    [Fact]
    public async Task Pictures_stay_below_their_limit_and_zero_disables_them()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        await server.SaveAsync(HttpStatusCode.OK, ("ui.pictures-max-mb", "1"));
        var films = new List<string>();
        for (var i = 0; i < 60; i++)
        {
            films.Add(await PublishAsync(server));
            Assert.Equal(HttpStatusCode.NoContent, await PutAsync(server, films[i], TestPictures.WebP(320, 180, PictureStore.MaxStillBytes, i)));
        }

        Assert.Equal(1_048_576 / PictureStore.MaxStillBytes, Files().Length);
        Assert.True((await server.GetAsync($"files/{films[0]}"))["wantsStill"]!.GetValue<bool>());
        Assert.False((await server.GetAsync($"files/{films[^1]}"))["wantsStill"]!.GetValue<bool>());
        var recent = (await server.GetAsync("home"))["recent"]!.AsArray();
        Assert.Equal(12, recent.Count(row => row!["picture"] is not null));

        var hash = await PictureAsync(server);
        await server.SaveAsync(HttpStatusCode.OK, ("ui.pictures-max-mb", "0"));
        using var answer = await ShowAsync(server, hash);
        Assert.Equal(HttpStatusCode.NotFound, answer.StatusCode);
        Assert.Equal(HttpStatusCode.Conflict, await PutAsync(server, films[0], TestPictures.WebP(320, 180)));
        Assert.False((await server.GetAsync($"files/{films[0]}"))["wantsStill"]!.GetValue<bool>());
        Assert.Null(await PictureAsync(server));
        await UntilNoFileAsync();
    }

    [Fact]
    public async Task Lost_or_damaged_picture_is_not_served()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        var film = await PublishAsync(server);
        await PutAsync(server, film, TestPictures.WebP(320, 180));
        var file = Assert.Single(Files());
        var hash = await PictureAsync(server);
        var bytes = await File.ReadAllBytesAsync(file, Token);
        bytes[500] ^= 1;
        await File.WriteAllBytesAsync(file, bytes, Token);
        using (var damaged = await ShowAsync(server, hash))
            Assert.Equal(HttpStatusCode.NotFound, damaged.StatusCode);

        Directory.Delete(Path.GetDirectoryName(file)!, recursive: true);
        using (var lost = await ShowAsync(server, hash))
            Assert.Equal(HttpStatusCode.NotFound, lost.StatusCode);
        foreach (var other in new[] { new string('0', 32), hash!.ToUpperInvariant(), "..%2f..%2fsluice.db", "x" })
        {
            using var answer = await ShowAsync(server, other);
            Assert.Equal(HttpStatusCode.NotFound, answer.StatusCode);
        }

        Assert.Equal(HttpStatusCode.NoContent, await PutAsync(server, film, TestPictures.WebP(320, 180)));
        using var again = await ShowAsync(server, hash);
        Assert.Equal(HttpStatusCode.OK, again.StatusCode);
    }

    [Fact]
    public async Task Orphaned_files_are_deleted_at_the_next_startup()
    {
        var folder = Directory.CreateDirectory(Path.Combine(_temporary.Folder.Root, "cache", "pictures")).FullName;
        await File.WriteAllBytesAsync(Path.Combine(folder, new string('a', 32)), TestPictures.WebP(320, 180), Token);

        await using var server = await ResourceServer.StartAsync(_temporary);

        await UntilNoFileAsync();
    }

    [Fact]
    public async Task Picture_is_stored_and_shown_without_contacting_a_provider()
    {
        await using var mock = await MockServer.StartAsync();
        await using var server = await ResourceServer.StartAsync(_temporary, ProviderSettings.For([.. mock.Ports]));
        var film = await PublishAsync(server);
        var before = mock.Stats.CommandCount("BODY") + mock.Stats.CommandCount("STAT") + mock.Stats.CommandCount("ARTICLE");

        await PutAsync(server, film, TestPictures.WebP(320, 180));
        using var answer = await ShowAsync(server, await PictureAsync(server));

        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        Assert.Equal((0, 0), (before, mock.Stats.CommandCount("BODY") + mock.Stats.CommandCount("STAT") + mock.Stats.CommandCount("ARTICLE")));
    }

    [Fact]
    public void Front_page_picture_choice_respects_count_and_byte_limits()
    {
        var many = new HomePictures();
        Assert.Equal(12, Enumerable.Range(0, 20).Count(i => many.Choose([new ListedPicture($"{i}", 1_000)]) is not null));
        Assert.Equal("3", many.Choose([new ListedPicture("3", 1_000)]));

        var large = new HomePictures();
        Assert.Equal("poster", large.Choose([new ListedPicture("poster", 200_000), new ListedPicture("still", 20_000)]));
        Assert.Equal("still", large.Choose([new ListedPicture("second", 200_000), new ListedPicture("still", 20_000)]));
        Assert.Equal("last", large.Choose([new ListedPicture("last", 20_000)]));
        Assert.Null(large.Choose([new ListedPicture("more", 1)]));
    }

    private static SluiceDatabase Database(ResourceServer server) => server.Server.Services.GetRequiredService<SluiceDatabase>();

    private string[] Files()
    {
        var folder = Path.Combine(_temporary.Folder.Root, "cache", "pictures");
        return Directory.Exists(folder) ? Directory.GetFiles(folder) : [];
    }

    private async Task UntilNoFileAsync()
    {
        while (Files().Length > 0)
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
    }

    /// <summary>The picture of the newest film, as the front page has it.</summary>
    private static async Task<string?> PictureAsync(ResourceServer server) => (await server.GetAsync("home"))["recent"]![0]!["picture"]?.ToString();

    private static Task<HttpResponseMessage> ShowAsync(ResourceServer server, string? hash) =>
        server.Server.Client.GetAsync(new Uri($"api/pictures/{hash}", UriKind.Relative), Token);

    private static async Task<HttpStatusCode> PutAsync(ResourceServer server, string film, byte[] body, string type = "image/webp", bool isChunked = false)
    {
        using var request = Put(film, body, type);
        request.Headers.TransferEncodingChunked = isChunked;
        using var answer = await server.Server.Client.SendAsync(request, Token);
        return answer.StatusCode;
    }

    private static HttpRequestMessage Put(string film, byte[] body, string type)
    {
        var content = new ByteArrayContent(body);
        content.Headers.ContentType = MediaTypeHeaderValue.Parse(type);
        return new HttpRequestMessage(HttpMethod.Put, new Uri($"api/files/{film}/still", UriKind.Relative)) { Content = content };
    }

    /// <summary>Publishes a release of one file; the answer is its id.</summary>
    private async Task<string> PublishAsync(ResourceServer server, string name = "film.mkv")
    {
        var id = Guid.NewGuid();
        var number = _releases++;
        var release = new NewRelease(
            "movies", $"Harbour.Lights.{number}", new string('a', 64),
            [new StoredPostedFile(0, SegmentPlaces.Range(0, 2), SegmentMap.Uniform(2, 600, 1000))],
            [new NewLibraryFile(id, name, null, 1_000, "tag", new FileContent([new ContentExtent(0, 0, 1000)]))]);
        await Database(server).WriteAsync(connection => LibraryStore.Insert(connection, release, Published.AddMinutes(number)), Token);
        return id.ToString("D");
    }
}
