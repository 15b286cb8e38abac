using System.Net;
using System.Net.Sockets;
using Sluice.Server.Settings;

namespace Sluice.Server.Diagnostics;

/// <summary>
/// <c>sluice --healthcheck</c>: asks the running process for <c>/healthz</c>, for images without a shell (ADM-31). It reads the variables
/// that the other process was started with, and opens no file of it.
/// </summary>
internal static class HealthQuestion
{
    /// <summary>The argument that asks.</summary>
    public const string Argument = "--healthcheck";

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(5);

    /// <summary>Asks once.</summary>
    /// <param name="options">Options of the other process.</param>
    /// <returns>The exit code: 0 where it answers with success, otherwise 1 with a line on stderr.</returns>
    public static async Task<int> AskAsync(ProcessOptions options)
    {
        var address = AddressOf(options);
        try
        {
            using var handler = new SocketsHttpHandler { UseProxy = false, AllowAutoRedirect = false };
            // Its certificate is made out to a name, and not to this address; what is asked for is no secret.
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
