using System.Globalization;
using System.Net;
using System.Net.Http.Headers;
using System.Text;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Outbound;
using Sluice.Server.Queue;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Outbound;
using Xunit;

namespace Sluice.Server.Tests.Queue;

/// <summary>Names that escape from their folder or mislead, through every way to add an NZB (S11, S16).</summary>
public sealed class HostileNameTests : IDisposable
{
    // Names from paths, commands and headers, names without letters, names that change the direction of text, and names that are too long.
    private static readonly string[] Names =
    [
        "..", ".", "../../../etc/passwd", @"..\..\windows\system32", "/etc/passwd", @"C:\x", "a/../b", "a\nb", "a\rb", "a\tb", "\u0001\u001f", "\u0085\u009f",
        "\u202Egnp.nzb", "\u2066x\u2069", "\uFFFE", "\uFDD0", "CON", "nul.nzb", "x.", " x ", "<script>", "a:b", "a*?b", "|", "$(reboot)", "`x`", ".nzb", "...nzb",
        new string('ä', 300), new string('x', 5000), "e\u0301", "\u0000",
    ];

    private readonly TemporaryFolder _folder = new();
    private readonly TemporaryFolder _files = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _folder.Dispose();
        _files.Dispose();
    }

    [Fact]
    public async Task Hostile_names_become_one_safe_file_or_folder_name()
    {
        var disposition = "";
        await using var indexer = await FakeIndexer.StartAsync(context =>
        {
            context.Response.Headers.ContentDisposition = disposition;
            return context.Response.Body.WriteAsync(NzbText.Of("a.mkv"), context.RequestAborted).AsTask();
        });
        await using var host = await ProductHost.StartAsync(
            _folder,
            null,
            services => services.AddSingleton(new HostLookup((_, _) => Task.FromResult<IPAddress[]>([IPAddress.Loopback]))),
            ("SLUICE_CONFIG__API__ADDURL_TRUSTED_HOSTS", "*"),
            ("SLUICE_CONFIG__API__LOCAL_NZB_DIRS", _files.Root));

        foreach (var name in Names)
        {
            var query = $"&priority=-2&nzbname={Uri.EscapeDataString(name)}&cat={Uri.EscapeDataString(name)}&script={Uri.EscapeDataString(name)}&password={Uri.EscapeDataString(name)}";
            await host.AddAsync(NzbText.Of("a.mkv"), "x.nzb", Token, query);
            await AddNamedAsync(host, name);
            await host.AddAsync(NzbText.Zip((name + ".nzb", NzbText.Of("a.mkv")), ("b/" + name + ".nzb", NzbText.Of("b.mkv"))), "x.zip", Token, "&priority=-2");
            disposition = "attachment; filename*=UTF-8''" + Uri.EscapeDataString(name);
            await host.CallAsync($"mode=addurl&priority=-2&name={Uri.EscapeDataString($"http://i.test:{indexer.Port}/{Uri.EscapeDataString(name)}")}", Token);
            await AddLocalAsync(host, name);
        }

        var store = host.Get<QueueStore>();
        List<QueueItem> items;
        do
            items = await store.StreamAsync(new QueueFilter(), 0, 0, Token).ToListAsync(Token);
        while (items.Exists(item => item.Url is not null));

        Assert.True(items.Count >= Names.Length * 5, $"{items.Count} items");
        Assert.All(items, item =>
        {
            AssertIsOneName(item.Name);
            AssertIsOneName(item.Folder);
            AssertIsOneName(item.NzbName);
        });
        Assert.All(await host.Get<QueueFileStore>().ListFoldersAsync(Token), AssertIsOneName);
        using var listing = await host.SendAsync(new HttpMethod("PROPFIND"), "/nzbs/", null, Token);
        System.Xml.Linq.XDocument.Parse(await listing.Content.ReadAsStringAsync(Token));
        Assert.Equal([_folder.Root], Directory.GetFileSystemEntries(_folder.Parent));
        Assert.All(Directory.GetFiles(_folder.Folder.Blobs), path => Assert.Matches(@"^[0-9a-f]{64}\.(nzb\.br|ids|raw)$", Path.GetFileName(path)));
    }

    /// <summary>Adds a file with its name in the part's header.</summary>
    private static async Task AddNamedAsync(ProductHost host, string name)
    {
        using var form = new MultipartFormDataContent();
        var file = new ByteArrayContent(NzbText.Of("a.mkv"));
        file.Headers.ContentDisposition = new ContentDispositionHeaderValue("form-data") { Name = "nzbfile", FileNameStar = name + ".nzb" };
        form.Add(file);
        using var answer = await host.Client.PostAsync(new Uri($"/api?mode=addfile&priority=-2&apikey={ProductHost.Key}", UriKind.Relative), form, Token);
        Assert.Contains("\"status\":true", await answer.Content.ReadAsStringAsync(Token), StringComparison.Ordinal);
    }

    /// <summary>Adds a local file, with the characters of the name that the file system allows.</summary>
    private async Task AddLocalAsync(ProductHost host, string name)
    {
        var path = Path.Combine(_files.Root, name.Replace('/', '_').Replace('\0', '_') + ".nzb");
        if (Encoding.UTF8.GetByteCount(Path.GetFileName(path)) > 255)
            return;
        await File.WriteAllBytesAsync(path, NzbText.Of("a.mkv"), Token);
        await host.CallAsync("mode=addlocalfile&priority=-2&name=" + Uri.EscapeDataString(path), Token);
    }

    private static void AssertIsOneName(string name)
    {
        Assert.InRange(Encoding.UTF8.GetByteCount(name), 1, 255);
        Assert.NotEqual(".", name);
        Assert.NotEqual("..", name);
        Assert.DoesNotContain(name, c => c is '/' or '\\' || char.IsControl(c) || char.IsSurrogate(c) || char.GetUnicodeCategory(c) == UnicodeCategory.OtherNotAssigned
            || c is (>= '\u202A' and <= '\u202E') or (>= '\u2066' and <= '\u2069'));
        Assert.True(name.IsNormalized(), name);
    }
}
