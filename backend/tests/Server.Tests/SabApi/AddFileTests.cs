using System.Net;
using System.Text;
using System.Text.Json;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Queue;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Xunit;

namespace Sluice.Server.Tests.SabApi;

public sealed class AddFileTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private static List<(string What, byte[] Content, string Sentence)> OddContent()
    {
        var nzb = NzbText.Of("a.mkv");
        var gzip = NzbText.Gzip(nzb);
        return
        [
            ("not xml", Encoding.UTF8.GetBytes("hello"), "The file is not an NZB (text)."),
            ("html", Encoding.UTF8.GetBytes("<html><body>login</body></html>"), "The file is not an NZB (HTML page)."),
            ("empty", [], "The file is not an NZB (empty file)."),
            ("no files", NzbText.Of(), "The NZB lists no usable articles."),
            ("cut", nzb[..^40], "The file is not an NZB (*)."),
            ("only par2", NzbText.Of("a.par2", "a.vol0+1.par2"), "The release holds no video or audio file."),
            ("damaged gzip", [.. gzip[..20], .. new byte[20], .. gzip[40..]], "The file is not an NZB (damaged gzip)."),
            ("damaged bzip2", [.. "BZh9"u8, .. new byte[200]], "The file is not an NZB (damaged bzip2)."),
            ("damaged zip", [.. "PK\u0003\u0004"u8, .. new byte[200]], "The file is not an NZB (damaged zip)."),
            ("empty zip", NzbText.Zip(), "The file is not an NZB (a zip without files)."),
            ("gzip of text", NzbText.Gzip(Encoding.UTF8.GetBytes("hello")), "The file is not an NZB (text)."),
            ("gzip bomb", NzbText.Gzip(new byte[8 << 20]), "The NZB is larger than the limits allow (it unpacks to more than 200 times its size)."),
            ("bzip2 bomb", NzbText.Bzip2(new byte[8 << 20]), "The NZB is larger than the limits allow (it unpacks to more than 200 times its size)."),
            ("zip bomb", NzbText.Zip(("Some.Release.nzb", new byte[8 << 20])), "The NZB is larger than the limits allow (it unpacks to more than 200 times its size)."),
        ];
    }

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Invalid_content_is_accepted_and_listed_as_failed_in_history()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        foreach (var (what, content, sentence) in OddContent())
            await AssertFailsInHistoryAsync(host, what, content, sentence);
    }

    private static async Task AssertFailsInHistoryAsync(ProductHost host, string what, byte[] content, string sentence)
    {
        using var answer = await host.PostFileAsync(content, "Some.Release.nzb", "&cat=TV", Token);
        using var json = JsonDocument.Parse(await answer.Content.ReadAsStringAsync(Token));

        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        Assert.True(json.RootElement.GetProperty("status").GetBoolean(), what);
        var id = Assert.Single(json.RootElement.GetProperty("nzo_ids").EnumerateArray()).GetString()!;
        Assert.Matches("^SABnzbd_nzo_[0-9a-f]{32}$", id);
        var slot = await host.WaitForHistoryAsync(id, Token);
        Assert.Equal("Failed", slot.GetProperty("status").GetString());
        Assert.Equal("Some.Release", slot.GetProperty("name").GetString());
        Assert.Equal("tv", slot.GetProperty("category").GetString());
        Assert.Equal("", slot.GetProperty("storage").GetString());
        Assert.Matches("^" + System.Text.RegularExpressions.Regex.Escape(sentence).Replace("\\*", ".+", StringComparison.Ordinal) + "$", slot.GetProperty("fail_message").GetString());
    }

    [Fact]
    public async Task Stored_copy_equals_the_added_NZB()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        foreach (var wrapping in new[] { "plain", "gzip", "bzip2", "bzip2 in two streams", "zip" })
            await AssertCopyIsEqualAsync(host, wrapping);
    }

    private static async Task AssertCopyIsEqualAsync(ProductHost host, string wrapping)
    {
        var nzb = NzbText.Of([.. Enumerable.Range(0, 500).Select(i => $"{i}.mkv")]);
        var content = wrapping switch
        {
            "gzip" => NzbText.Gzip(nzb),
            "bzip2" => NzbText.Bzip2(nzb),
            "bzip2 in two streams" => [.. NzbText.Bzip2(nzb[..1000]), .. NzbText.Bzip2(nzb[1000..])],
            "zip" => NzbText.Zip(("inside.nzb", nzb)),
            _ => nzb,
        };

        var id = Assert.Single(await host.AddAsync(content, $"odd.name.{wrapping}", Token));

        var item = await host.Get<QueueStore>().FindAsync(id, Token);
        await using var stored = host.Get<BlobStore>().OpenNzb(item!.NzbHash);
        var copy = new MemoryStream();
        await stored.CopyToAsync(copy, Token);
        Assert.Equal(nzb, copy.ToArray());
        Assert.Equal(nzb.Length, item.NzbLength);
        Assert.Equal(wrapping == "zip" ? "inside" : $"odd.name.{wrapping}", item.Name);
    }

    [Fact]
    public async Task Each_NZB_in_a_zip_becomes_an_item()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        var zip = NzbText.Zip(("x/One.nzb", NzbText.Of("a.mkv")), ("Two.NZB", NzbText.Of("b.mkv")), ("readme.txt", [1, 2, 3]));

        var ids = await host.AddAsync(zip, "both.zip", Token, "&nzbname=ignored");

        var store = host.Get<QueueStore>();
        Assert.Equal(["One", "Two"], [(await store.FindAsync(ids[0], Token))!.Name, (await store.FindAsync(ids[1], Token))!.Name]);
    }

    [Fact]
    public async Task Identical_add_is_idempotent_and_duplicate_names_are_kept()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        var (first, second) = (NzbText.Of("a.mkv"), NzbText.Of("b.mkv"));

        var id = await host.AddAsync(first, "Rel.nzb", Token, "&cat=tv");
        Assert.Equal(id, await host.AddAsync(first, "Rel.nzb", Token, "&cat=tv"));
        Assert.Equal(id, await host.AddAsync(NzbText.Gzip(first), "Rel.nzb.gz", Token, "&cat=tv"));
        var other = await host.AddAsync(second, "Rel.nzb", Token, "&cat=tv");
        var elsewhere = await host.AddAsync(first, "Rel.nzb", Token, "&cat=movies");
        Assert.Equal(other, await host.AddAsync(second, "Rel.nzb", Token, "&cat=tv"));
        Assert.Equal(id, await host.AddAsync(first, "Rel.nzb", Token, "&cat=TV"));

        var store = host.Get<QueueStore>();
        Assert.Equal("Rel", (await store.FindAsync(id[0], Token))!.Name);
        Assert.Equal("Rel", (await store.FindAsync(other[0], Token))!.Name);
        Assert.Equal(["Rel (2).nzb", "Rel.nzb"], await host.Get<QueueFileStore>().ListAsync("tv", Token).Select(file => file.Name).ToListAsync(Token));
        Assert.Equal("Rel", (await store.FindAsync(elsewhere[0], Token))!.Name);
    }

    [Fact]
    public async Task Duplicate_name_fails_if_configured()
    {
        await using var host = await ProductHost.StartAsync(_folder, null, null, ("SLUICE_CONFIG__API__DUPLICATE_NZB_BEHAVIOR", "mark-failed"));
        await host.AddAsync(NzbText.Of("a.mkv"), "Rel.nzb", Token, "&cat=tv");

        var id = await host.AddAsync(NzbText.Of("b.mkv"), "Rel.nzb", Token, "&cat=tv");
        var elsewhere = await host.AddAsync(NzbText.Of("b.mkv"), "Rel.nzb", Token, "&cat=movies");

        Assert.Equal("A release of this name is already there.", (await host.WaitForHistoryAsync(id[0], Token)).GetProperty("fail_message").GetString());
        Assert.NotNull(await host.Get<QueueStore>().FindAsync(elsewhere[0], Token));
    }

    [Fact]
    public async Task Addfile_parameters_are_applied_to_the_item()
    {
        await using var host = await ProductHost.StartAsync(_folder);

        var id = await host.AddAsync(
            NzbText.Of("a.mkv"), "x.nzb", Token, "&category=Software&priority=1&nzbname=Given+%7B%7Bsecret%7D%7D.nzb&pp=2&script=s.py");

        var item = await host.Get<QueueStore>().FindAsync(id[0], Token);
        Assert.Equal(
            ("Given", "secret", "software", "software", QueuePriority.High, 2, "s.py", false),
            (item!.Name, host.Get<ItemPasswords>().Open(item), item.Category, item.Folder, item.Priority, item.PostProcessing, item.Script, item.Paused));
    }

    [Fact]
    public async Task Category_gets_its_configured_spelling_or_becomes_none()
    {
        await using var host = await ProductHost.StartAsync(_folder, null, null, ("LOG_LEVEL", "warning"));
        (string Sent, string Stored, string Folder)[] categories =
        [
            ("", "*", "uncategorized"),
            ("*", "*", "uncategorized"),
            ("default", "*", "uncategorized"),
            ("None", "*", "uncategorized"),
            ("MOVIES", "movies", "movies"),
            (" tv ", "tv", "tv"),
            ("uncategorized", "*", "uncategorized"),
            ("Demo", "*", "uncategorized"),
            ("../etc", "*", "uncategorized"),
            (" Odd  Cat. ", "*", "uncategorized"),
            ("t\0ypo", "*", "uncategorized"),
            (new string('x', 300), "*", "uncategorized"),
        ];

        foreach (var (sent, stored, folder) in categories)
        {
            var id = await host.AddAsync(NzbText.Of("a.mkv"), "x.nzb", Token, "&cat=" + Uri.EscapeDataString(sent));
            var item = await host.Get<QueueStore>().FindAsync(id[0], Token);
            Assert.Equal((stored, folder), (item!.Category, item.Folder));
            var queue = (await host.CallAsync($"mode=queue&nzo_ids={id[0]}", Token)).GetProperty("queue").GetProperty("slots");
            Assert.Equal(stored, queue[0].GetProperty("cat").GetString());
        }

        // Each unknown category logs one warning that clients can read, with the name shortened.
        var warnings = (await host.CallAsync("mode=warnings", Token)).GetProperty("warnings").EnumerateArray().Select(warning => warning.GetProperty("text").GetString()!).ToList();
        Assert.Equal(
            ["../etc", " Odd  Cat. ", "typo", new string('x', 64)],
            warnings.Where(text => text.Contains("api.categories", StringComparison.Ordinal)).Select(text => text["Category ".Length..text.IndexOf(" is not in", StringComparison.Ordinal)]));
    }

    [Fact]
    public async Task Form_part_without_a_file_name_is_refused()
    {
        await using var host = await ProductHost.StartAsync(_folder);

        using var form = new StringContent("--x\r\nContent-Disposition: form-data; name=\"name\"; filename=\"\"\r\nContent-Type: application/octet-stream\r\n\r\n\r\n--x--\r\n");
        form.Headers.ContentType = System.Net.Http.Headers.MediaTypeHeaderValue.Parse("multipart/form-data; boundary=x");
        using var answer = await host.Client.PostAsync(new Uri($"/api?mode=addfile&apikey={ProductHost.Key}", UriKind.Relative), form, Token);

        Assert.Equal("""{"status":false,"error":"expects one parameter"}""", await answer.Content.ReadAsStringAsync(Token));
        Assert.Empty(Directory.GetFiles(_folder.Folder.Blobs));
    }

    [Fact]
    public async Task Full_queue_refuses_until_there_is_room()
    {
        await using var host = await ProductHost.StartAsync(_folder, null, null, ("SLUICE_CONFIG__QUEUE__MAX_ITEMS", "2"));
        var first = await host.AddAsync(NzbText.Of("a.mkv"), "1.nzb", Token);
        await host.AddAsync(NzbText.Of("a.mkv"), "2.nzb", Token);

        using var refused = await host.PostFileAsync(NzbText.Of("a.mkv"), "3.nzb", "", Token);
        await host.CallAsync($"mode=queue&name=delete&value={first[0]}", Token);
        await host.AddAsync(NzbText.Of("a.mkv"), "4.nzb", Token);

        Assert.Equal(HttpStatusCode.OK, refused.StatusCode);
        Assert.Equal("""{"status":false,"error":"Queue is full"}""", await refused.Content.ReadAsStringAsync(Token));
        Assert.Equal(2, Directory.GetFiles(_folder.Folder.Blobs, "*.nzb.br").Length);
    }

    [Fact]
    public async Task Body_over_the_limit_is_refused_with_413()
    {
        await using var host = await ProductHost.StartAsync(_folder, null, null, ("MAX_REQUEST_BODY_SIZE", "1048576"));

        using var answer = await host.PostFileAsync(new byte[2 << 20], "x.nzb", "", Token);

        await AssertTooLargeAsync(answer);
    }

    [Fact]
    public async Task Nzb_over_the_limit_is_refused_with_413()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        using var form = new MultipartFormDataContent { { new StreamContent(new ZeroStream(BlobStore.MaxNzbBytes + 1)), "nzbfile", "x.nzb" } };

        using var answer = await host.Client.PostAsync(
            new Uri($"/sabnzbd/api/?mode=addfile&apikey={ProductHost.Key}", UriKind.Relative), form, Token);

        await AssertTooLargeAsync(answer);
    }

    [Fact]
    public async Task Call_without_a_file_is_refused()
    {
        await using var host = await ProductHost.StartAsync(_folder);

        Assert.Equal("""{"status":false,"error":"expects one parameter"}""", (await host.CallAsync("mode=addfile&name=x", Token)).ToString());
    }

    private async Task AssertTooLargeAsync(HttpResponseMessage answer)
    {
        Assert.Equal(HttpStatusCode.RequestEntityTooLarge, answer.StatusCode);
        Assert.Equal("""{"status":false,"error":"NZB is too large"}""", await answer.Content.ReadAsStringAsync(Token));
        Assert.Empty(Directory.GetFiles(_folder.Folder.Blobs));
    }
}
