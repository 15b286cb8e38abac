using System.Net;
using System.Net.Http.Headers;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>Requests of players, mounts and download clients to a running server.</summary>
internal sealed class SluiceClient : IDisposable
{
    private static readonly TimeSpan ImportLimit = TimeSpan.FromSeconds(90);
    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(100);

    private readonly HttpClient _http;
    private readonly string _apiKey;

    public SluiceClient(int port, string user, string password, string apiKey)
    {
        _http = new HttpClient { BaseAddress = new Uri($"http://127.0.0.1:{port}/"), Timeout = TimeSpan.FromMinutes(10) };
        _http.DefaultRequestHeaders.Authorization =
            new AuthenticationHeaderValue("Basic", Convert.ToBase64String(Encoding.UTF8.GetBytes($"{user}:{password}")));
        _apiKey = apiKey;
        Authority = $"http://{Uri.EscapeDataString(user)}:{Uri.EscapeDataString(password)}@127.0.0.1:{port}";
    }

    public SluiceClient(ServerProcess server) : this(server.Port, ServerProcess.User, ServerProcess.Password, ServerProcess.ApiKey)
    {
    }

    /// <summary>Scheme, credentials, host and port, as in the URL for a player.</summary>
    public string Authority { get; }

    /// <summary>Adds an NZB by copying a file into the mount.</summary>
    /// <returns>The status; 201 acknowledges that the NZB is stored.</returns>
    public Task<HttpStatusCode> PutNzbAsync(string category, string name, byte[] nzb, CancellationToken cancel) =>
        PutNzbAsync(category, name, new MemoryStream(nzb), cancel);

    /// <summary>Adds an NZB by copying it into the mount, and sends it while it is read.</summary>
    public async Task<HttpStatusCode> PutNzbAsync(string category, string name, Stream nzb, CancellationToken cancel)
    {
        using var body = new StreamContent(nzb);
        using var answer = await _http.PutAsync(new Uri($"nzbs/{category}/{Uri.EscapeDataString(name)}.nzb", UriKind.Relative), body, cancel);
        return answer.StatusCode;
    }

    /// <summary>Adds an NZB as Sonarr and Radarr do.</summary>
    /// <returns>The id, which acknowledges that the NZB is stored.</returns>
    public Task<string> AddFileAsync(string category, string name, byte[] nzb, CancellationToken cancel) =>
        AddFileAsync(category, name, new MemoryStream(nzb), cancel);

    /// <summary>Adds an NZB as Sonarr and Radarr do, and sends it while it is read.</summary>
    public async Task<string> AddFileAsync(string category, string name, Stream nzb, CancellationToken cancel)
    {
        using var json = await PostFileAsync(category, name, nzb, cancel);
        Assert.True(json.RootElement.GetProperty("status").GetBoolean(), json.RootElement.ToString());
        return Assert.Single(json.RootElement.GetProperty("nzo_ids").EnumerateArray()).GetString()!;
    }

    /// <summary>Adds an NZB that may be refused.</summary>
    /// <returns>The text of the refusal, or the id.</returns>
    public async Task<string> TryAddFileAsync(string category, string name, byte[] nzb, CancellationToken cancel)
    {
        using var json = await PostFileAsync(category, name, new MemoryStream(nzb), cancel);
        return json.RootElement.TryGetProperty("error", out var text) ? text.GetString()! : json.RootElement.GetProperty("nzo_ids")[0].GetString()!;
    }

    private async Task<JsonDocument> PostFileAsync(string category, string name, Stream nzb, CancellationToken cancel)
    {
        using var file = new StreamContent(nzb);
        file.Headers.ContentType = new MediaTypeHeaderValue("application/x-nzb");
        using var form = new MultipartFormDataContent { { file, "name", name + ".nzb" } };
        using var answer = await _http.PostAsync(ApiCall($"mode=addfile&cat={category}"), form, cancel);
        return await JsonDocument.ParseAsync(await answer.Content.ReadAsStreamAsync(cancel), cancellationToken: cancel);
    }

    /// <summary>Adds an NZB as rclone does: under a temporary name, which it then changes to that of the NZB.</summary>
    /// <returns>The status of the rename; 201 acknowledges that the NZB is stored.</returns>
    public async Task<HttpStatusCode> PutAndMoveAsync(string category, string name, byte[] nzb, CancellationToken cancel)
    {
        await PutPassingAsync(category, name, nzb, cancel);
        return await MovePassingAsync(category, name, cancel);
    }

    /// <summary>Uploads an NZB under its temporary name.</summary>
    public async Task PutPassingAsync(string category, string name, byte[] nzb, CancellationToken cancel)
    {
        using var body = new ByteArrayContent(nzb);
        using var answer = await _http.PutAsync(Url($"nzbs/{category}/{name}.nzb.part"), body, cancel);
        Assert.Equal(HttpStatusCode.Created, answer.StatusCode);
    }

    /// <summary>Renames the uploaded NZB to its final name.</summary>
    public async Task<HttpStatusCode> MovePassingAsync(string category, string name, CancellationToken cancel)
    {
        using var request = new HttpRequestMessage(new HttpMethod("MOVE"), Url($"nzbs/{category}/{name}.nzb.part"));
        request.Headers.Add("Destination", new Uri(_http.BaseAddress!, Url($"nzbs/{category}/{name}.nzb")).AbsoluteUri);
        using var answer = await _http.SendAsync(request, cancel);
        return answer.StatusCode;
    }

    /// <summary>Calls the SABnzbd API; the caller disposes the answer.</summary>
    public async Task<JsonDocument> CallAsync(string query, CancellationToken cancel) =>
        JsonDocument.Parse(await _http.GetByteArrayAsync(ApiCall(query), cancel));

    /// <summary>Returns the names of all items in the queue, without <c>.nzb</c>.</summary>
    public async Task<IReadOnlyList<string>> QueueAsync(CancellationToken cancel)
    {
        using var json = await CallAsync("mode=queue&limit=0", cancel);
        return [.. json.RootElement.GetProperty("queue").GetProperty("slots").EnumerateArray()
            .Select(slot => slot.GetProperty("filename").GetString()!)];
    }

    /// <summary>Returns all items of the history.</summary>
    public async Task<IReadOnlyList<HistoryEntry>> HistoryAsync(CancellationToken cancel)
    {
        using var json = await CallAsync("mode=history&limit=1000000", cancel);
        return [.. json.RootElement.GetProperty("history").GetProperty("slots").EnumerateArray().Select(slot => new HistoryEntry(
            slot.GetProperty("nzo_id").GetString()!,
            slot.GetProperty("name").GetString()!,
            slot.GetProperty("nzb_name").GetString()!,
            slot.GetProperty("status").GetString()!,
            slot.GetProperty("fail_message").GetString()!))];
    }

    /// <summary>Returns the log of the import steps of a history item, as JSON.</summary>
    public async Task<string> StagesAsync(string id, CancellationToken cancel)
    {
        using var json = await CallAsync($"mode=history&nzo_ids={id}", cancel);
        return Assert.Single(json.RootElement.GetProperty("history").GetProperty("slots").EnumerateArray()).GetProperty("stage_log").ToString();
    }

    /// <summary>Waits until a release is in the history under its name or id.</summary>
    public async Task<HistoryEntry> FinishedAsync(string nameOrId, CancellationToken cancel)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancel);
        limit.CancelAfter(ImportLimit);
        while (true)
        {
            var found = (await HistoryAsync(cancel)).FirstOrDefault(entry => entry.Id == nameOrId || entry.Name == nameOrId);
            if (found is not null)
                return found;
            Assert.False(limit.IsCancellationRequested,
                $"{nameOrId} is not in the history; the queue holds: {string.Join(", ", await QueueAsync(cancel))}");
            await Task.Delay(Poll, TimeProvider.System, cancel);
        }
    }

    /// <summary>Waits until a release is in the history, and fails unless it was published.</summary>
    public async Task PublishedAsync(string nameOrId, CancellationToken cancel)
    {
        var entry = await FinishedAsync(nameOrId, cancel);
        Assert.True(entry.Status == "Completed", $"{entry.Name} ended as {entry.Status}: {entry.FailMessage}");
    }

    /// <summary>Requests a path and returns after the headers; the caller reads the body and disposes the answer.</summary>
    public Task<HttpResponseMessage> OpenAsync(string path, long? from, long? to, CancellationToken cancel)
    {
        var request = new HttpRequestMessage(HttpMethod.Get, Url(path));
        if (from is not null || to is not null)
            request.Headers.Range = new RangeHeaderValue(from, to);
        return _http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, cancel);
    }

    /// <summary>Lists a folder and returns after the headers; the caller reads the body and disposes the answer.</summary>
    public async Task<HttpResponseMessage> FindAsync(string path, string body, CancellationToken cancel)
    {
        using var request = new HttpRequestMessage(new HttpMethod("PROPFIND"), Url(path)) { Content = new StringContent(body) };
        request.Headers.Add("Depth", "1");
        var answer = await _http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, cancel);
        Assert.Equal(HttpStatusCode.MultiStatus, answer.StatusCode);
        return answer;
    }

    /// <summary>Reads a whole file; the status must be 200.</summary>
    public async Task<byte[]> GetAsync(string path, CancellationToken cancel)
    {
        using var answer = await OpenAsync(path, null, null, cancel);
        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        return await answer.Content.ReadAsByteArrayAsync(cancel);
    }

    /// <summary>Reads an inclusive range of a file; the status must be 206 and the Content-Range right.</summary>
    public async Task<byte[]> GetRangeAsync(string path, long from, long to, long length, CancellationToken cancel)
    {
        using var answer = await OpenAsync(path, from, to, cancel);
        Assert.Equal(HttpStatusCode.PartialContent, answer.StatusCode);
        Assert.Equal($"bytes {from}-{Math.Min(to, length - 1)}/{length}", answer.Content.Headers.ContentRange!.ToString());
        return await answer.Content.ReadAsByteArrayAsync(cancel);
    }

    /// <summary>Requests a file or range, and reads the body until it ends or is aborted.</summary>
    /// <returns>The bytes, and whether the answer was complete.</returns>
    public async Task<(byte[] Bytes, bool Complete)> ReadUntilCutAsync(string path, long? from, long? to, CancellationToken cancel)
    {
        using var answer = await OpenAsync(path, from, to, cancel);
        answer.EnsureSuccessStatusCode();
        return await ReadUntilCutAsync(answer, cancel);
    }

    /// <summary>Reads the body of an answer until it ends or is aborted.</summary>
    /// <returns>The bytes, and whether the answer was complete.</returns>
    public static async Task<(byte[] Bytes, bool Complete)> ReadUntilCutAsync(HttpResponseMessage answer, CancellationToken cancel)
    {
        using var bytes = new MemoryStream();
        try
        {
            await using var body = await answer.Content.ReadAsStreamAsync(cancel);
            await body.CopyToAsync(bytes, cancel);
            return (bytes.ToArray(), true);
        }
        catch (IOException)
        {
            return (bytes.ToArray(), false);
        }
        catch (HttpRequestException)
        {
            return (bytes.ToArray(), false);
        }
    }

    public static string Sha256(byte[] bytes) => Convert.ToHexStringLower(SHA256.HashData(bytes));

    public void Dispose() => _http.Dispose();

    private static Uri Url(string path) =>
        new(string.Join('/', path.Split('/').Select(Uri.EscapeDataString)), UriKind.Relative);

    private Uri ApiCall(string query) => new($"api?output=json&apikey={_apiKey}&{query}", UriKind.Relative);
}

/// <summary>One item of the history.</summary>
internal sealed record HistoryEntry(string Id, string Name, string NzbName, string Status, string FailMessage);
