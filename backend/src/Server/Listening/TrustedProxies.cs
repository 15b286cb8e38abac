using System.Net;
using Microsoft.AspNetCore.HttpOverrides;
using Microsoft.Extensions.Options;
using Microsoft.Extensions.Primitives;
using Sluice.Server.Settings;
using IPNetwork = System.Net.IPNetwork;

namespace Sluice.Server.Listening;

/// <summary>
/// Trusts <c>X-Forwarded-For</c>, <c>-Proto</c> and <c>-Host</c> only from peers in <c>general.trusted-proxies</c>, and attributes the request to the client
/// behind them. A hop counts only if every later hop is trusted.
/// </summary>
internal sealed class TrustedProxies : IDisposable
{
    private readonly ILoggerFactory _loggers;
    private readonly IDisposable? _watch;
    private volatile ForwardedHeadersMiddleware? _reader;
    private volatile IReadOnlyList<IPNetwork> _networks = [];

    public TrustedProxies(IOptionsMonitor<GeneralOptions> options, ILoggerFactory loggers)
    {
        _loggers = loggers;
        Follow(options.CurrentValue);
        _watch = options.OnChange(Follow);
    }

    public bool Contains(IPAddress address)
    {
        var plain = Plain(address);
        return _networks.Any(network => network.Contains(plain));
    }

    /// <summary>Unmaps <c>::ffff:a.b.c.d</c>, because a dual-stack listener sees IPv4 clients in that form, but proxies do not.</summary>
    public static IPAddress Plain(IPAddress address) => address.IsIPv4MappedToIPv6 ? address.MapToIPv4() : address;

    /// <summary>Sets the address, scheme and host of the client behind the proxies.</summary>
    public void Apply(HttpContext context) => _reader?.ApplyForwarders(context);

    public void Dispose() => _watch?.Dispose();

    private void Follow(GeneralOptions general)
    {
        _networks = general.TrustedProxies;
        // Use no middleware if there are no proxies, because it interprets an empty list as every peer.
        _reader = general.TrustedProxies.Count == 0 ? null : Reader(general.TrustedProxies);
    }

    private ForwardedHeadersMiddleware Reader(IReadOnlyList<IPNetwork> networks)
    {
        var options = new ForwardedHeadersOptions
        {
            ForwardedHeaders = ForwardedHeaders.XForwardedFor | ForwardedHeaders.XForwardedProto | ForwardedHeaders.XForwardedHost,
            // No hop limit, because only trusted hops count.
            ForwardLimit = null,
        };
        options.KnownProxies.Clear();
        options.KnownIPNetworks.Clear();
        foreach (var network in networks)
            options.KnownIPNetworks.Add(network);
        return new ForwardedHeadersMiddleware(_ => Task.CompletedTask, _loggers, Options.Create(options));
    }
}

/// <summary>
/// The origin of a request before <see cref="TrustedProxies"/> changed the request: the peer, whether the peer is trusted, and all addresses in
/// <c>X-Forwarded-For</c>, even untrusted ones.
/// </summary>
internal sealed record Forwarding(IPAddress? Peer, bool IsTrusted, StringValues Named)
{
    /// <summary>Returns the origin of a request. A direct request has no forwarded addresses.</summary>
    public static Forwarding Of(HttpContext http) =>
        http.Features.Get<Forwarding>() ?? new Forwarding(http.Connection.RemoteIpAddress, false, StringValues.Empty);

    /// <summary>Whether the peer and all forwarded addresses meet a condition; false if any of them is not an address.</summary>
    public bool AreAll(Func<IPAddress, bool> condition) =>
        Peer is not null
        && condition(TrustedProxies.Plain(Peer))
        && Named.SelectMany(line => (line ?? "").Split(',')).All(text =>
            IPEndPoint.TryParse(text.Trim(), out var named) && condition(TrustedProxies.Plain(named.Address)));
}

internal static class TrustedProxiesRegistration
{
    /// <summary>Applies trusted proxy headers before any other component reads the client's address, then applies the client's limit.</summary>
    public static IApplicationBuilder UseTrustedProxies(this IApplicationBuilder app)
    {
        var proxies = app.ApplicationServices.GetRequiredService<TrustedProxies>();
        var gate = app.ApplicationServices.GetRequiredService<ConnectionGate>();
        return app.Use((context, next) =>
        {
            var peer = context.Connection.RemoteIpAddress;
            var isTrusted = peer is not null && proxies.Contains(peer);
            var named = context.Request.Headers[ForwardedHeadersDefaults.XForwardedForHeaderName];
            if (isTrusted || named.Count > 0)
                context.Features.Set(new Forwarding(peer, isTrusted, named));
            proxies.Apply(context);
            return gate.ServeAsync(context, isForwarded: !Equals(peer, context.Connection.RemoteIpAddress), next);
        });
    }
}
