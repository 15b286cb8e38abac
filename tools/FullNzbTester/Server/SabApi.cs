using System.Globalization;
using System.Net.Http.Headers;
using System.Text.Json;
using Sluice.Tools.FullNzbTester.Cli;
using Sluice.Tools.FullNzbTester.Steps;

namespace Sluice.Tools.FullNzbTester.Server;

/// <summary>Client of a server's SABnzbd API that adds NZBs and waits for them. Thread-safe.</summary>
internal sealed class SabApi(HttpClient http, ServerFlags server)
{
    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(10);

    /// <returns>Its id.</returns>
    /// <exception cref="IOException">The server cannot be reached or rejects the NZB.</exception>
    public async Task<string> AddAsync(string name, byte[] nzb, CancellationToken cancellationToken)
    {
        using var file = new ByteArrayContent(nzb);
        file.Headers.ContentType = new MediaTypeHeaderValue("application/x-nzb");
        using var form = new MultipartFormDataContent { { file, "name", name + ".nzb" } };
        var category = server.Category is { } known ? "&cat=" + Uri.EscapeDataString(known) : "";
        using var request = new HttpRequestMessage(HttpMethod.Post, Call("addfile" + category)) { Content = form };
        using var answer = await AskAsync(request, cancellationToken);
        var ids = answer.RootElement.TryGetProperty("nzo_ids", out var list) ? list.EnumerateArray().Select(id => id.GetString()).ToList() : [];
        return ids is [{ } one] ? one : throw new IOException($"The server took {name}.nzb with {ids.Count} ids.");
    }

    /// <summary>Waits until an item has moved from the queue to the history.</summary>
    /// <returns>Folder of its files.</returns>
    /// <exception cref="RefusedException">The import failed.</exception>
    /// <exception cref="IOException">The server cannot be reached.</exception>
    public async Task<string> WaitAsync(string id, CancellationToken cancellationToken)
    {
        while (true)
        {
            using var request = new HttpRequestMessage(HttpMethod.Get, Call($"history&nzo_ids={Uri.EscapeDataString(id)}&limit=100"));
            using var answer = await AskAsync(request, cancellationToken);
            foreach (var slot in answer.RootElement.GetProperty("history").GetProperty("slots").EnumerateArray())
            {
                // A server without support for the filter lists other items too.
                if (slot.GetProperty("nzo_id").GetString() != id)
                    continue;
                return slot.GetProperty("status").GetString() == "Completed"
                    ? slot.GetProperty("storage").GetString() ?? ""
                    : throw new RefusedException("Failed", slot.GetProperty("fail_message").GetString() ?? "");
            }

            await Task.Delay(Poll, TimeProvider.System, cancellationToken);
        }
    }

    private Uri Call(string mode) => new(server.Url, string.Create(CultureInfo.InvariantCulture, $"api?output=json&mode={mode}"));

    private async Task<JsonDocument> AskAsync(HttpRequestMessage request, CancellationToken cancellationToken)
    {
        request.Headers.Add("X-Api-Key", server.ApiKey);
        try
        {
            using var answer = await http.SendAsync(request, cancellationToken);
            var text = await answer.Content.ReadAsStringAsync(cancellationToken);
            if (!answer.IsSuccessStatusCode)
                throw new IOException($"The API of the server answers {(int)answer.StatusCode}: {text}");
            var json = JsonDocument.Parse(text);
            if (!json.RootElement.TryGetProperty("error", out var error))
                return json;
            json.Dispose();
            throw new IOException($"The API of the server says: {error.GetString()}");
        }
        catch (Exception error) when (error is HttpRequestException or JsonException)
        {
            throw new IOException($"The API of the server does not answer as such: {error.Message}", error);
        }
    }
}
