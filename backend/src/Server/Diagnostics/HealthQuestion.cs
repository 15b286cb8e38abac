using System.Net;
using System.Net.Sockets;
using Sluice.Server.Settings;

namespace Sluice.Server.Diagnostics;

/// <summary>
/// <c>sluice --healthcheck</c> queries <c>/healthz</c> of the running process, because the image has no shell (ADM-31). It reads the same environment variables
/// as that process and opens none of its files.
/// </summary>
internal static class HealthQuestion
{
    public const string Argument = "--healthcheck";

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(5);

    /// <summary>Sends one request. Returns exit code 0 on success. Otherwise writes a line to stderr and returns 1.</summary>
    public static async Task<int> AskAsync(ProcessOptions options)
    {
        var address = AddressOf(options);
        try
        {
            using var handler = new SocketsHttpHandler { UseProxy = false, AllowAutoRedirect = false };
            // Accept any certificate, because it names the public host, not this local address. The response is not secret.
            handler.SslOptions.RemoteCertificateValidationCallback = (_, certificate, _, _) => certificate is not null;
            using var client = new HttpClient(handler) { Timeout = Limit };
            using var answer = await client.GetAsync(address);
            if (answer.IsSuccessStatusCode)
                return 0;
            await Console.Error.WriteLineAsync($"sluice: {address} answers {(int)answer.StatusCode}");
        }
        catch (Exception e) when (e is HttpRequestException or OperationCanceledException)
        {
            await Console.Error.WriteLineAsync($"sluice: {address} does not answer: {e.Message.ReplaceLineEndings(" ")}");
        }

        return 1;
    }

    private static Uri AddressOf(ProcessOptions options)
    {
        var host = options.BindAddress is not { } address || address.Equals(IPAddress.Any) ? IPAddress.Loopback
            : address.Equals(IPAddress.IPv6Any) ? IPAddress.IPv6Loopback
            : address;
        var text = host.AddressFamily is AddressFamily.InterNetworkV6 ? $"[{host}]" : host.ToString();
        return new UriBuilder(options.UsesTls ? Uri.UriSchemeHttps : Uri.UriSchemeHttp, text, options.Port, "/healthz").Uri;
    }
}
