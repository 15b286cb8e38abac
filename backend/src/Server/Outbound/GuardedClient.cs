using System.Net;
using System.Net.Sockets;
using System.Text;
using Microsoft.Extensions.Options;
using Sluice.Server.Settings;

namespace Sluice.Server.Outbound;

/// <summary>The addresses of a host.</summary>
internal delegate Task<IPAddress[]> HostLookup(string host, CancellationToken cancellationToken);

/// <summary>
/// Fetches what addresses from outside name (S10). Each connection is made to an address that the <see cref="AddressGuard"/> has
/// judged itself, so that a name cannot have another address in between; redirects are followed one by one under the same rules. No
/// proxy, cookie or credential of the environment is used.
/// </summary>
/// <remarks>Thread-safe. A connection serves one request, so that a change of the trusted hosts counts at once.</remarks>
internal sealed class GuardedClient : IDisposable
{
    /// <summary>Most redirects of one fetch.</summary>
    public const int MaxRedirects = 10;

    // On a request to a host that the administrator has named.
    private static readonly HttpRequestOptionsKey<bool> Named = new("named");

    // For each address of a host, so that one that takes nothing leaves time for the next.
    private static readonly TimeSpan ConnectPatience = TimeSpan.FromSeconds(10);

    private readonly AddressGuard _guard;
    private readonly HostLookup _lookup;
    private readonly IOptionsMonitor<ApiOptions> _options;
    private readonly TimeProvider _time;
    private readonly HttpClient _http;

    /// <summary>Creates the client.</summary>
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
            // File names come in it without any encoding.
            ResponseHeaderEncodingSelector = (_, _) => Encoding.UTF8,
            ConnectCallback = ConnectAsync,
        })
        {
            Timeout = Timeout.InfiniteTimeSpan,
        };
    }

    /// <summary>Asks for an address.</summary>
    /// <param name="url">The address.</param>
    /// <param name="cancellationToken">Gives up; also ends the reading of the body.</param>
    /// <returns>The answer with its headers, of whatever status but a redirect; the caller disposes it.</returns>
    /// <exception cref="AddressRefusedException">The address, or one that it leads to, must not be asked for.</exception>
    /// <exception cref="HttpRequestException">There is no answer.</exception>
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

    /// <summary>Sends a request to a program of the household whose address the administrator has entered. Follows no redirect.</summary>
    /// <param name="request">The request; the caller disposes it.</param>
    /// <param name="cancellationToken">Gives up; also ends the reading of the body.</param>
    /// <returns>The answer with its headers; the caller disposes it.</returns>
    /// <exception cref="AddressRefusedException">No program has such an address.</exception>
    /// <exception cref="HttpRequestException">There is no answer.</exception>
    public Task<HttpResponseMessage> SendToNamedAsync(HttpRequestMessage request, CancellationToken cancellationToken)
    {
        request.Options.Set(Named, true);
        return SendAsync(request, cancellationToken);
    }

    /// <summary>Where a redirect leads.</summary>
    /// <exception cref="AddressRefusedException">From an encrypted connection to an open one, which would show the keys in the address.</exception>
    internal static Uri Follow(Uri from, Uri location)
    {
        if (!Uri.TryCreate(from, location, out var next))
            throw new AddressRefusedException("its address leads to what is none") { IsRedirect = true };
        return from.Scheme == Uri.UriSchemeHttps && next.Scheme == Uri.UriSchemeHttp
            ? throw new AddressRefusedException("its address leads from https to http") { IsRedirect = true }
            : next;
    }

    /// <inheritdoc/>
    public void Dispose() => _http.Dispose();

    private async Task<HttpResponseMessage> SendAsync(Uri url, CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, url);
        // A header is ASCII, whatever the setting holds.
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
            .Select(address => (Address: address, Reason: isNamed ? AddressGuard.RefuseNamed(address) : _guard.Refuse(host, address, port)))
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
                // The next address may answer.
            }
        }

        return await ConnectAsync(allowed[^1], port, cancellationToken);
    }

    private async Task<Stream> ConnectAsync(IPAddress address, int port, CancellationToken cancellationToken)
    {
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        using var patience = new CancellationTokenSource(ConnectPatience, _time);
        using var cancel = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, patience.Token);
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
