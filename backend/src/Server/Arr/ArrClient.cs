using System.Globalization;
using System.Net;
using System.Net.Http.Headers;
using System.Net.Sockets;
using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using Sluice.Server.Outbound;

namespace Sluice.Server.Arr;

/// <summary>A failed call. The message is a sentence for the user and contains no secrets.</summary>
internal sealed class ArrException(string sentence) : Exception(sentence);

internal sealed record ArrStatus(string Version, string InstanceName);

/// <summary>Calls the API of Sonarr, Radarr and related programs. Thread-safe.</summary>
internal sealed class ArrClient(GuardedClient http, TimeProvider time)
{
    // A program's own test of a download client gets more time, because the tested address may never respond.
    private static readonly TimeSpan CallTimeout = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan TestTimeout = TimeSpan.FromSeconds(60);

    // The descriptions of all download client types total about 200 KB.
    private const int MaxAnswer = 8 << 20;

    /// <summary>Returns the version and name of a program.</summary>
    /// <exception cref="ArrException">The program does not respond, refuses the key, or is a different program.</exception>
    public async Task<ArrStatus> StatusAsync(ArrServer server, CancellationToken cancellationToken)
    {
        var status = await GetAsync(server, "system/status", cancellationToken) as JsonObject;
        var application = ArrJson.Text(status?["appName"]);
        if (status is null || application.Length == 0)
            throw new ArrException(DescribeOtherProgram(server));
        if (!application.Equals(server.Kind.ToString(), StringComparison.OrdinalIgnoreCase))
            throw new ArrException($"At {server.Url} is {ToShortLine(application)}, not {server.Kind}.");
        var name = ArrJson.Text(status["instanceName"]);
        return new ArrStatus(ToShortLine(ArrJson.Text(status["version"])), ToShortLine(name.Length > 0 ? name : application));
    }

    /// <summary>Reads a resource. <paramref name="path"/> is relative to the API version.</summary>
    /// <exception cref="ArrException">The resource cannot be read.</exception>
    public async Task<JsonNode?> GetAsync(ArrServer server, string path, CancellationToken cancellationToken)
    {
        var (status, answer) = await SendAsync(server, HttpMethod.Get, path, null, CallTimeout, cancellationToken);
        return status == HttpStatusCode.OK ? answer : throw new ArrException(Describe(server, status));
    }

    /// <summary>Reads a file from the program. Null if the file does not exist or is too long.</summary>
    /// <exception cref="ArrException">The program does not respond.</exception>
    public Task<ReadOnlyMemory<byte>?> GetBytesAsync(ArrServer server, string path, int maxBytes, CancellationToken cancellationToken) => ExchangeAsync(
        server,
        HttpMethod.Get,
        path,
        body: null,
        CallTimeout,
        async (answer, cancel) => answer.StatusCode == HttpStatusCode.OK ? await ReadAsync(answer, maxBytes, cancel) : null,
        cancellationToken);

    /// <summary>Saves a resource. Returns it as stored by the program.</summary>
    /// <exception cref="ArrException">The resource was not saved.</exception>
    public async Task<JsonNode?> SaveAsync(ArrServer server, HttpMethod method, string path, JsonNode body, CancellationToken cancellationToken)
    {
        var (status, answer) = await SendAsync(server, method, path, body, TestTimeout, cancellationToken);
        if ((int)status is < 200 or > 299)
            throw new ArrException(Complaints(answer) is [var first, ..] ? $"{server.Kind} did not save it: {first}" : Describe(server, status));
        return answer;
    }

    /// <summary>Has the program test a download client. Returns the first error; null if the test passed, even with warnings.</summary>
    /// <exception cref="ArrException">The program could not run the test.</exception>
    public async Task<string?> TestClientAsync(ArrServer server, JsonNode client, CancellationToken cancellationToken)
    {
        var (status, answer) = await SendAsync(server, HttpMethod.Post, "downloadclient/test", client, TestTimeout, cancellationToken);
        if ((int)status is >= 200 and <= 299)
            return null;
        if (status != HttpStatusCode.BadRequest || answer is not JsonArray)
            throw new ArrException(Describe(server, status));
        return Complaints(answer).FirstOrDefault();
    }

    /// <summary>Returns the errors of a failed validation, but not its warnings.</summary>
    private static List<string> Complaints(JsonNode? answer) =>
    [
        .. (answer as JsonArray ?? [])
            .OfType<JsonObject>()
            .Where(failure => !(failure["isWarning"] is JsonValue warning && warning.TryGetValue<bool>(out var isWarning) && isWarning))
            .Select(failure => ToShortLine(ArrJson.Text(failure["errorMessage"]))),
    ];

    private Task<(HttpStatusCode Status, JsonNode? Answer)> SendAsync(
        ArrServer server, HttpMethod method, string path, JsonNode? body, TimeSpan timeout, CancellationToken cancellationToken) => ExchangeAsync(
        server,
        method,
        path,
        body,
        timeout,
        async (answer, cancel) => (answer.StatusCode, await ReadAsync(answer, MaxAnswer, cancel) is { } bytes ? Parse(bytes) : null),
        cancellationToken);

    private async Task<T> ExchangeAsync<T>(
        ArrServer server, HttpMethod method, string path, JsonNode? body, TimeSpan timeout, Func<HttpResponseMessage, CancellationToken, Task<T>> read,
        CancellationToken cancellationToken)
    {
        using var deadline = new CancellationTokenSource(timeout, time);
        using var cancel = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, deadline.Token);
        using var request = new HttpRequestMessage(method, new Uri(server.Url + server.ApiPath + path));
        request.Headers.TryAddWithoutValidation("X-Api-Key", server.Key);
        request.Headers.Accept.Add(new MediaTypeWithQualityHeaderValue("application/json"));
        if (body is not null)
        {
            request.Content = new ByteArrayContent(Encoding.UTF8.GetBytes(body.ToJsonString()));
            request.Content.Headers.ContentType = new MediaTypeHeaderValue("application/json");
        }

        try
        {
            using var answer = await http.SendToConfiguredAsync(request, cancel.Token);
            return await read(answer, cancel.Token);
        }
        catch (AddressRefusedException e)
        {
            throw new ArrException($"{server.Url} is not called: {e.Message}.");
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            throw new ArrException(string.Create(CultureInfo.InvariantCulture, $"No answer from {server.Url} within {timeout.TotalSeconds} seconds."));
        }
        catch (Exception e) when (e is HttpRequestException or IOException)
        {
            throw new ArrException(Describe(server, e));
        }
    }

    /// <summary>Reads a body; null if it is too long.</summary>
    private static async Task<ReadOnlyMemory<byte>?> ReadAsync(HttpResponseMessage answer, int maxBytes, CancellationToken cancellationToken)
    {
        await using var body = await answer.Content.ReadAsStreamAsync(cancellationToken);
        using var held = new MemoryStream();
        var block = new byte[16 << 10];
        while (await body.ReadAsync(block, cancellationToken) is > 0 and var read)
        {
            if (held.Length + read > maxBytes)
                return null;
            held.Write(block, 0, read);
        }

        return held.GetBuffer().AsMemory(0, (int)held.Length);
    }

    private static JsonNode? Parse(ReadOnlyMemory<byte> body)
    {
        try
        {
            return JsonNode.Parse(body.Span, new JsonNodeOptions { PropertyNameCaseInsensitive = true });
        }
        catch (JsonException)
        {
            // The body is HTML or empty, so only the status code can explain the failure.
            return null;
        }
    }

    private static string Describe(ArrServer server, HttpStatusCode status) => (int)status switch
    {
        401 or 403 => $"{server.Kind} refuses the API key. It is shown there under Settings, General.",
        >= 300 and <= 399 => $"{server.Url} leads elsewhere. Enter the address as {server.Kind} itself has it, with its URL base.",
        200 or 404 or 405 => DescribeOtherProgram(server),
        _ => string.Create(CultureInfo.InvariantCulture, $"{server.Kind} answered with the error {(int)status}."),
    };

    private static string DescribeOtherProgram(ArrServer server) => $"What answers at {server.Url} is no {server.Kind}. Check the port and the URL base.";

    private static string Describe(ArrServer server, Exception failure)
    {
        for (var e = failure; e is not null; e = e.InnerException)
        {
            if (e is System.Security.Authentication.AuthenticationException)
                return $"The encrypted connection to {server.Url} failed: its certificate is not trusted, or it has no encryption there.";
            if (e is SocketException socket)
            {
                return socket.SocketErrorCode switch
                {
                    SocketError.HostNotFound or SocketError.NoData or SocketError.TryAgain => $"The name {new Uri(server.Url).Host} is not known here.",
                    SocketError.ConnectionRefused => $"Nothing listens at {server.Url}. Check the port, and that {server.Kind} is running.",
                    SocketError.NetworkUnreachable or SocketError.HostUnreachable => $"There is no way to {server.Url} from here.",
                    _ => $"The connection to {server.Url} failed.",
                };
            }
        }

        return $"The connection to {server.Url} broke.";
    }

    /// <summary>Shortens another program's text to one line, because it appears in sentences for the user.</summary>
    private static string ToShortLine(string text) =>
        new([.. text.Take(300).Select(c => char.IsControl(c) ? ' ' : c)]);
}
