using System.Net;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Tools.MockNntpServer.Layouts;
using Xunit;

namespace Sluice.Server.Tests.ArchiveImport;

/// <summary>One server and one provider for many releases: each test posts and imports its own, then reads it through WebDAV.</summary>
public sealed class ImportBench : IAsyncLifetime
{
    /// <summary>Category of the added releases.</summary>
    public const string Category = "tv";

    private const int Piece = 1 << 20;

    private readonly TemporaryFolder _folder = new();
    private MockServer? _mock;
    private ProductHost? _host;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public MockServer Mock => _mock!;

    internal ProductHost Host => _host!;

    public async ValueTask InitializeAsync()
    {
        _mock = await MockServer.StartAsync();
        _host = await ProductHost.StartAsync(_folder, _mock);
    }

    public async ValueTask DisposeAsync()
    {
        await Host.DisposeAsync();
        await Mock.DisposeAsync();
        _folder.Dispose();
    }

    /// <summary>Posts and imports a release.</summary>
    /// <param name="release">The release.</param>
    /// <param name="query">Further parameters of the call, each after an ampersand.</param>
    /// <param name="name">Name of the NZB without extension; null for the title.</param>
    internal async Task<ImportEnding> ImportAsync(MockRelease release, string query = "", string? name = null)
    {
        Mock.Post(release);
        return await ImportAsync(release.ToNzb(), name ?? release.Title, query);
    }

    /// <summary>Imports an NZB.</summary>
    internal async Task<ImportEnding> ImportAsync(byte[] nzb, string name, string query = "")
    {
        var id = (await Host.AddAsync(nzb, name + ".nzb", Token, $"&cat={Category}{query}"))[0];
        var slot = await Host.WaitForHistoryAsync(id, Token);
        var item = (await Host.Get<HistoryStore>().FindAsync(id, Token))!;
        return new ImportEnding(item.Id, item.Name, item.Reason, slot.GetProperty("fail_message").GetString()!, slot);
    }

    /// <summary>Imports a release and checks that it has exactly the files of its truth, byte by byte.</summary>
    /// <param name="release">The release.</param>
    /// <param name="pathOf">Maps a path of the truth to the path in the release; null if they are equal.</param>
    internal async Task ServeAsync(MockRelease release, Func<string, string>? pathOf = null)
    {
        var ending = await ImportAsync(release);
        Assert.Equal("", ending.Sentence);
        await AssertHoldsAsync(ending.Name, [.. release.Entries.Select(entry => entry with { Path = pathOf?.Invoke(entry.Path) ?? entry.Path })]);
    }

    /// <summary>Fails unless a published release has exactly these files and they read back equal.</summary>
    internal async Task AssertHoldsAsync(string release, IReadOnlyList<MockEntry> truth)
    {
        Assert.Equal(truth.Select(entry => entry.Path).Order(StringComparer.Ordinal), (await ListAsync(release)).Order(StringComparer.Ordinal));
        foreach (var entry in truth)
            await AssertEqualAsync($"{release}/{entry.Path}", entry.Bytes);
    }

    /// <summary>Returns the paths of all files of a release.</summary>
    internal async Task<IReadOnlyList<string>> ListAsync(string release)
    {
        var tree = Host.Get<LibraryTree>();
        var paths = new List<string>();
        var open = new Stack<string>([release]);
        while (open.TryPop(out var folder))
        {
            var found = await tree.FindAsync([Category, .. folder.Split('/')], Token);
            await foreach (var entry in tree.ListAsync(found!, Token))
            {
                var path = $"{folder}/{entry.Name}";
                if (entry is FileEntry)
                    paths.Add(path[(release.Length + 1)..]);
                else
                    open.Push(path);
            }
        }

        return paths;
    }

    /// <summary>Fails unless a file reads back equal, as a whole and in a range of its middle.</summary>
    internal async Task AssertEqualAsync(string path, MockBytes truth)
    {
        using var answer = await GetAsync(path, null);
        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        Assert.Equal(truth.Length, answer.Content.Headers.ContentLength);
        await using var body = await answer.Content.ReadAsStreamAsync(Token);
        var (expected, read) = (new byte[Piece], new byte[Piece]);
        for (long offset = 0; offset < truth.Length; offset += Piece)
        {
            var length = (int)Math.Min(Piece, truth.Length - offset);
            truth.Fill(offset, expected.AsSpan(0, length));
            await body.ReadExactlyAsync(read.AsMemory(0, length), Token);
            if (!expected.AsSpan(0, length).SequenceEqual(read.AsSpan(0, length)))
                Assert.Fail($"{path} differs at {offset + expected.AsSpan(0, length).CommonPrefixLength(read.AsSpan(0, length))}.");
        }

        await AssertRangeAsync(path, truth, truth.Length / 2, (int)Math.Min(5000, truth.Length - (truth.Length / 2)));
    }

    /// <summary>Fails unless a range of a file reads back equal.</summary>
    internal async Task AssertRangeAsync(string path, MockBytes truth, long offset, int length)
    {
        if (length == 0)
            return;
        using var answer = await GetAsync(path, new RangeHeaderValue(offset, offset + length - 1));
        Assert.Equal(HttpStatusCode.PartialContent, answer.StatusCode);
        var expected = new byte[length];
        truth.Fill(offset, expected);
        var read = await answer.Content.ReadAsByteArrayAsync(Token);
        Assert.True(expected.AsSpan().SequenceEqual(read), $"{path}, {length} bytes from {offset}");
    }

    /// <summary>Requests a file of the category.</summary>
    internal async Task<HttpResponseMessage> GetAsync(string path, RangeHeaderValue? range)
    {
        var escaped = string.Join('/', path.Split('/').Select(Uri.EscapeDataString));
        using var request = new HttpRequestMessage(HttpMethod.Get, new Uri($"/content/{Category}/{escaped}", UriKind.Relative));
        request.Headers.Authorization = new AuthenticationHeaderValue("Basic", Convert.ToBase64String(Encoding.UTF8.GetBytes($"admin:{ProductHost.Password}")));
        request.Headers.Range = range;
        return await Host.Client.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, Token);
    }

    /// <summary>Runs an action while articles are missing at all providers.</summary>
    internal async Task<T> WithoutAsync<T>(ArticleSelection missing, Func<Task<T>> run)
    {
        Mock.ChangeMissing(missing);
        try
        {
            return await run();
        }
        finally
        {
            Mock.ChangeMissing(ArticleSelection.None);
        }
    }
}

/// <summary>The outcome of an import.</summary>
/// <param name="Id">Id of the item.</param>
/// <param name="Name">Name of the release.</param>
/// <param name="Reason">The failure reason, or null.</param>
/// <param name="Sentence">The reason as shown to clients, or empty.</param>
/// <param name="Slot">The item as shown to clients.</param>
internal sealed record ImportEnding(string Id, string Name, string? Reason, string Sentence, JsonElement Slot);
