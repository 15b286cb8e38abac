using System.Text;
using Microsoft.AspNetCore.Builder;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Queue;
using Sluice.Server.Queue.Steps;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Auth;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Usenet.Streams.Maps;
using Xunit;

namespace Sluice.Server.Tests.WebDav.Tree;

/// <summary>The whole tree over its own data folder. No worker takes queue items, so they stay in place.</summary>
internal sealed class TreeServer : IAsyncDisposable
{
    public const string Password = "correct horse";
    public const string Key = "0123456789abcdef0123456789abcdef";

    private readonly DirectoryInfo _folder;
    private readonly WebApplication _app;

    private TreeServer(DirectoryInfo folder, WebApplication app)
    {
        _folder = folder;
        _app = app;
        Address = new Uri(app.Urls.First());
    }

    public static DateTimeOffset Published { get; } = new(2026, 1, 3, 10, 0, 0, TimeSpan.Zero);

    public Uri Address { get; }

    public SluiceDatabase Database => _app.Services.GetRequiredService<SluiceDatabase>();

    public IServiceProvider Services => _app.Services;

    public static string Credentials => "Authorization: Basic " + Convert.ToBase64String(Encoding.UTF8.GetBytes($"admin:{Password}"));

    public static Task<TreeServer> StartAsync(params (string Name, string Value)[] settings) => StartAsync(_ => { }, settings);

    /// <summary>Starts it with additional endpoints.</summary>
    public static async Task<TreeServer> StartAsync(Action<WebApplication> map, params (string Name, string Value)[] settings)
    {
        var folder = Directory.CreateTempSubdirectory("sluice-tree-");
        var variables = settings.ToDictionary(setting => setting.Name, setting => setting.Value);
        variables["CONFIG_PATH"] = folder.FullName;
        variables["BIND_ADDRESS"] = "127.0.0.1";
        variables["PORT"] = "0";
        variables["SLUICE_CONFIG__WEBDAV__PASS"] = QuickHash.Of(Password);
        variables.TryAdd("SLUICE_CONFIG__API__KEY", Key);
        var app = Program.Build(new ProcessEnvironment(variables), services =>
        {
            MigratedTemplate.AddTo(services, folder.FullName);
            services.Remove(services.Single(service => service.ImplementationType == typeof(QueueWorker)));
            services.AddLogging(logging => logging.ClearProviders());
        });
        map(app);
        try
        {
            await app.StartAsync(TestContext.Current.CancellationToken);
            return new TreeServer(folder, app);
        }
        catch
        {
            await app.DisposeAsync();
            folder.Delete(recursive: true);
            throw;
        }
    }

    /// <summary>Sends a request with valid credentials.</summary>
    public async Task<RawAnswer> SendAsync(string requestLine, params string[] headers)
    {
        await using var connection = await RawConnection.OpenAsync(Address);
        await connection.SendAsync(requestLine, [Credentials, .. headers]);
        return await connection.ReadAnswerAsync(isHead: requestLine.StartsWith("HEAD ", StringComparison.Ordinal));
    }

    /// <summary>Sends a request without credentials.</summary>
    public async Task<RawAnswer> SendAnonymouslyAsync(string requestLine, params string[] headers)
    {
        await using var connection = await RawConnection.OpenAsync(Address);
        await connection.SendAsync(requestLine, ["Content-Length: 0", .. headers]);
        return await connection.ReadAnswerAsync(isHead: requestLine.StartsWith("HEAD ", StringComparison.Ordinal));
    }

    public Task<RawAnswer> PutAsync(string path, string body, params string[] headers) => SendBodyAsync($"PUT {path}", body, headers);

    /// <summary>Sends a request with a text as its body.</summary>
    public Task<RawAnswer> SendBodyAsync(string requestLine, string body, params string[] headers) =>
        SendBytesAsync(requestLine, Encoding.UTF8.GetBytes(body), headers);

    /// <summary>Sends a request with bytes as its body.</summary>
    public async Task<RawAnswer> SendBytesAsync(string requestLine, byte[] body, params string[] headers)
    {
        await using var connection = await RawConnection.OpenAsync(Address);
        await connection.SendAsync(requestLine, [Credentials, .. headers, $"Content-Length: {body.Length}"]);
        await connection.SendRawAsync(body);
        return await connection.ReadAnswerAsync(isHead: false);
    }

    /// <summary>Adds a file through the SABnzbd API.</summary>
    public async Task AddFileAsync(byte[] content, string fileName, string query)
    {
        using var form = new MultipartFormDataContent { { new ByteArrayContent(content), "name", fileName } };
        var body = await form.ReadAsByteArrayAsync(TestContext.Current.CancellationToken);
        var answer = await SendBytesAsync($"POST /api?mode=addfile&apikey={Key}&{query}", body, $"Content-Type: {form.Headers.ContentType}");
        Assert.Contains("\"status\":true", answer.Text, StringComparison.Ordinal);
    }

    /// <summary>Decrypts the archive password of an item.</summary>
    public string PasswordOf(QueueItem item) => Services.GetRequiredService<ItemPasswords>().Open(item);

    public Task<List<QueueItem>> ItemsAsync() =>
        Services.GetRequiredService<QueueStore>()
            .StreamAsync(new QueueFilter(), 0, 0, TestContext.Current.CancellationToken).ToListAsync(TestContext.Current.CancellationToken).AsTask();

    /// <summary>Returns the names of the stored blobs.</summary>
    public IEnumerable<string> BlobNames() => Directory.GetFiles(Path.Combine(_folder.FullName, "blobs")).Select(path => Path.GetFileName(path)!);

    /// <summary>Sends a request with a text in one chunk, without a Content-Length.</summary>
    public async Task<RawAnswer> SendChunkedAsync(string requestLine, string body)
    {
        await using var connection = await RawConnection.OpenAsync(Address);
        await connection.SendAsync(requestLine, Credentials, "Transfer-Encoding: chunked");
        if (body.Length > 0)
            await connection.SendRawAsync($"{Encoding.UTF8.GetByteCount(body):x}\r\n{body}\r\n");
        await connection.SendRawAsync("0\r\n\r\n");
        return await connection.ReadAnswerAsync(isHead: false);
    }

    /// <summary>Publishes a release without its NZB; all of its files begin in the same posted file of 1,000 bytes.</summary>
    public Task<long> PublishAsync(string category, string name, params string[] paths) =>
        PublishAsync(new string('a', 64), category, name, paths);

    /// <summary>Publishes such a release with its NZB, so that it lacks only providers.</summary>
    public async Task<long> PublishWithNzbAsync(string category, string name, params string[] paths)
    {
        using var nzb = new MemoryStream(NzbText.Of("1.mkv", "2.mkv"));
        var blob = await Services.GetRequiredService<BlobStore>().SaveNzbAsync(nzb, TestContext.Current.CancellationToken);
        return await PublishAsync(blob.Hash, category, name, paths);
    }

    private Task<long> PublishAsync(string nzbHash, string category, string name, string[] paths)
    {
        var release = new NewRelease(
            category, name, nzbHash,
            [new StoredPostedFile(0, SegmentPlaces.Range(0, 2), SegmentMap.Uniform(2, 600, 1000))],
            [.. paths.Select(path => new NewLibraryFile(Guid.NewGuid(), path, null, 1000, $"tag-{path.Length}", new FileContent([new ContentExtent(0, 0, 1000)])))]);
        return Database.WriteAsync(
            connection => LibraryStore.Insert(connection, release, Published), TestContext.Current.CancellationToken);
    }

    /// <summary>Publishes a release with a completed history item.</summary>
    public async Task PublishCompletedAsync(string category, string name, params string[] paths)
    {
        var release = await PublishAsync(category, name, paths);
        var item = new HistoryItem
        {
            Id = Guid.NewGuid().ToString("N"),
            Name = name,
            NzbName = name + ".nzb",
            Category = category,
            Folder = category,
            ReleaseId = release,
            ReleaseFolder = name,
            CompletedAt = Published,
        };
        await Database.InsertAsync(HistoryStore.Insert, item);
    }

    public async ValueTask DisposeAsync()
    {
        await _app.StopAsync(new CancellationToken(canceled: true));
        await _app.DisposeAsync();
        _folder.Delete(recursive: true);
    }
}
