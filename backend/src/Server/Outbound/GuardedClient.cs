using System.Net;
using System.Net.Sockets;
using System.Text;
using Microsoft.Extensions.Options;
using Sluice.Server.Settings;

namespace Sluice.Server.Outbound;

internal delegate Task<IPAddress[]> HostLookup(string host, CancellationToken cancellationToken);

/// <summary>
/// Fetches URLs from outside (S10). It connects to exactly the address that <see cref="AddressGuard"/> checked, because a second DNS query could return a
/// different one. Each redirect is checked as well. It ignores proxies and credentials from the environment, and stores no cookies.
/// </summary>
/// <remarks>Thread-safe. Connections are not reused, so that changes to the trusted hosts apply immediately.</remarks>
internal sealed class GuardedClient : IDisposable
{
    public const int MaxRedirects = 10;

    // Marks requests to a host that the administrator configured.
    private static readonly HttpRequestOptionsKey<bool> Named = new("named");

    // Per address, so that an unresponsive address leaves time for the next one.
    private static readonly TimeSpan ConnectTimeout = TimeSpan.FromSeconds(10);

    private readonly AddressGuard _guard;
    private readonly HostLookup _lookup;
    private readonly IOptionsMonitor<ApiOptions> _options;
    private readonly TimeProvider _time;
    private readonly HttpClient _http;

    public GuardedClient(AddressGuard guard, HostLookup lookup, IOptionsMonitor<ApiOptions> options, TimeProvider time)
    {
        (_guard, _lookup, _options, _time) = (guard, lookup, options, time);
        _http = new HttpClient(new SocketsHttpHandler
        {
            AllowAutoRedirect = false,
            UseProxy = false,
            UseCookies = false,
            PooledConnectionLifetime = TimeSpan.Zero,
            ActivityHeadersPropagator = null,
            // Some servers send unencoded UTF-8 file names in Content-Disposition.
            ResponseHeaderEncodingSelector = (_, _) => Encoding.UTF8,
            ConnectCallback = ConnectAsync,
        })
        {
            Timeout = Timeout.InfiniteTimeSpan,
        };
    }

    /// <summary>Fetches a URL. Returns any response except a redirect, as soon as its headers are read. The caller disposes it.</summary>
    /// <exception cref="AddressRefusedException">The URL or a redirect target is not allowed.</exception>
    /// <exception cref="HttpRequestException">There was no response.</exception>
    public async Task<HttpResponseMessage> GetAsync(Uri url, CancellationToken cancellationToken)
    {
        for (var redirects = 0; ; redirects++)
        {
            if (_guard.Refuse(url) is { } reason)
                throw new AddressRefusedException(reason);
            var answer = await SendAsync(url, cancellationToken);
            if (!IsRedirect(answer) || answer.Headers.Location is not { } location)
                return answer;

            answer.Dispose();
            url = Follow(url, location);
            if (redirects == MaxRedirects)
                throw new AddressRefusedException($"its address leads to more than {MaxRedirects} others") { IsRedirect = true };
        }
    }

    /// <summary>Sends a request to a program that the administrator configured. Follows no redirects. The caller disposes request and response.</summary>
    /// <exception cref="AddressRefusedException">The address cannot belong to an ordinary host.</exception>
    /// <exception cref="HttpRequestException">There was no response.</exception>
    public Task<HttpResponseMessage> SendToConfiguredAsync(HttpRequestMessage request, CancellationToken cancellationToken)
    {
        request.Options.Set(Named, true);
        return SendAsync(request, cancellationToken);
    }

    /// <summary>Resolves a redirect target.</summary>
    /// <exception cref="AddressRefusedException">The redirect leads from https to http, which would expose keys in the URL.</exception>
    internal static Uri Follow(Uri from, Uri location)
    {
        if (!Uri.TryCreate(from, location, out var next))
            throw new AddressRefusedException("its address leads to what is none") { IsRedirect = true };
        return from.Scheme == Uri.UriSchemeHttps && next.Scheme == Uri.UriSchemeHttp
            ? throw new AddressRefusedException("its address leads from https to http") { IsRedirect = true }
            : next;
    }

    public void Dispose() => _http.Dispose();

    private async Task<HttpResponseMessage> SendAsync(Uri url, CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, url);
        // Replace other characters, because header values must be ASCII.
        var agent = string.Concat(_options.CurrentValue.UserAgent.Select(c => char.IsAscii(c) ? c : '?'));
        request.Headers.TryAddWithoutValidation("User-Agent", agent);
        return await SendAsync(request, cancellationToken);
    }

    private async Task<HttpResponseMessage> SendAsync(HttpRequestMessage request, CancellationToken cancellationToken)
    {
        try
        {
            return await _http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, cancellationToken);
        }
        catch (HttpRequestException e) when (e.InnerException is AddressRefusedException refused)
        {
            throw refused;
        }
    }

    private static bool IsRedirect(HttpResponseMessage answer) => (int)answer.StatusCode is 301 or 302 or 303 or 307 or 308;

    private async ValueTask<Stream> ConnectAsync(SocketsHttpConnectionContext context, CancellationToken cancellationToken)
    {
        var (host, port) = (context.DnsEndPoint.Host, context.DnsEndPoint.Port);
        var addresses = IPAddress.TryParse(host, out var literal) ? [literal] : await _lookup(host, cancellationToken);
        var isNamed = context.InitialRequestMessage.Options.TryGetValue(Named, out var named) && named;
        var verdicts = addresses
            .Select(address => (Address: address, Reason: isNamed ? AddressGuard.RefuseConfigured(address) : _guard.Refuse(host, address, port)))
            .ToList();
        IPAddress[] allowed = [.. verdicts.Where(verdict => verdict.Reason is null).Select(verdict => verdict.Address)];
        if (allowed.Length == 0)
            throw verdicts is [var first, ..] ? new AddressRefusedException(first.Reason!) : new SocketException((int)SocketError.HostNotFound);

        foreach (var address in allowed[..^1])
        {
            try
            {
                return await ConnectAsync(address, port, cancellationToken);
            }
            catch (Exception e) when (e is SocketException or OperationCanceledException && !cancellationToken.IsCancellationRequested)
            {
                // Try the next address of the host.
            }
        }

        return await ConnectAsync(allowed[^1], port, cancellationToken);
    }

    private async Task<Stream> ConnectAsync(IPAddress address, int port, CancellationToken cancellationToken)
    {
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        using var timeout = new CancellationTokenSource(ConnectTimeout, _time);
        using var cancel = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, timeout.Token);
        try
        {
            await socket.ConnectAsync(address, port, cancel.Token);
            return new NetworkStream(socket, ownsSocket: true);
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }
}
