using System.Net;
using Microsoft.AspNetCore.HttpOverrides;
using Microsoft.Extensions.Options;
using Microsoft.Extensions.Primitives;
using Sluice.Server.Settings;
using IPNetwork = System.Net.IPNetwork;

namespace Sluice.Server.Listening;

/// <summary>
/// Believes <c>X-Forwarded-For</c>, <c>-Proto</c> and <c>-Host</c> of the peers in <c>general.trusted-proxies</c> and of no other:
/// from then on the request is that of the client behind them. Each hop counts only while all behind it are trusted.
/// </summary>
/// <remarks>Thread-safe; follows the settings.</remarks>
internal sealed class TrustedProxies : IDisposable
{
    private readonly ILoggerFactory _loggers;
    private readonly IDisposable? _watch;
    private volatile ForwardedHeadersMiddleware? _reader;
    private volatile IReadOnlyList<IPNetwork> _networks = [];

    /// <summary>Follows the settings.</summary>
    public TrustedProxies(IOptionsMonitor<GeneralOptions> options, ILoggerFactory loggers)
    {
        _loggers = loggers;
        Follow(options.CurrentValue);
        _watch = options.OnChange(Follow);
    }

    /// <summary>Whether an address is one of theirs.</summary>
    public bool Contains(IPAddress address)
    {
        var plain = Plain(address);
        return _networks.Any(network => network.Contains(plain));
    }

    /// <summary>A dual-stack listener sees IPv4 clients as <c>::ffff:a.b.c.d</c>, a proxy names them as they are.</summary>
    public static IPAddress Plain(IPAddress address) => address.IsIPv4MappedToIPv6 ? address.MapToIPv4() : address;

    /// <summary>Gives a request the address, scheme and host that its client used.</summary>
    public void Apply(HttpContext context) => _reader?.ApplyForwarders(context);

    /// <inheritdoc/>
    public void Dispose() => _watch?.Dispose();

    private void Follow(GeneralOptions general)
    {
        _networks = general.TrustedProxies;
        // To the framework's reader an empty list means every peer.
        _reader = general.TrustedProxies.Count == 0 ? null : Reader(general.TrustedProxies);
    }

    private ForwardedHeadersMiddleware Reader(IReadOnlyList<IPNetwork> networks)
    {
        var options = new ForwardedHeadersOptions
        {
            ForwardedHeaders = ForwardedHeaders.XForwardedFor | ForwardedHeaders.XForwardedProto | ForwardedHeaders.XForwardedHost,
            // As many hops as are trusted.
            ForwardLimit = null,
        };
        options.KnownProxies.Clear();
        options.KnownIPNetworks.Clear();
        foreach (var network in networks)
            options.KnownIPNetworks.Add(network);
        return new ForwardedHeadersMiddleware(_ => Task.CompletedTask, _loggers, Options.Create(options));
    }
}

/// <summary>Where a request came from, before <see cref="TrustedProxies"/> gave it the address of its client.</summary>
/// <param name="Peer">The address of the connection.</param>
/// <param name="IsTrusted">Whether that is a trusted proxy.</param>
/// <param name="Named">The addresses of <c>X-Forwarded-For</c>, believed or not.</param>
internal sealed record Forwarding(IPAddress? Peer, bool IsTrusted, StringValues Named)
{
    /// <summary>That of a request; one that came straight from its client names no address.</summary>
    public static Forwarding Of(HttpContext http) =>
        http.Features.Get<Forwarding>() ?? new Forwarding(http.Connection.RemoteIpAddress, false, StringValues.Empty);

    /// <summary>Whether a condition holds for the peer and for every address named; false where a name is no address.</summary>
    public bool AreAll(Func<IPAddress, bool> condition) =>
        Peer is not null
        && condition(TrustedProxies.Plain(Peer))
        && Named.SelectMany(line => (line ?? "").Split(',')).All(text =>
            IPEndPoint.TryParse(text.Trim(), out var named) && condition(TrustedProxies.Plain(named.Address)));
}

/// <summary>Puts <see cref="TrustedProxies"/> into the pipeline.</summary>
internal static class TrustedProxiesRegistration
{
    /// <summary>Reads the headers of trusted proxies, before anything looks at the client, and holds each client to its limit.</summary>
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
