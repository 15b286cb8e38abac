using System.Net;
using System.Security.Claims;
using System.Text.Encodings.Web;
using Microsoft.AspNetCore.Authentication;
using Microsoft.AspNetCore.Authorization;
using Microsoft.Extensions.Options;
using Sluice.Server.Settings;

namespace Sluice.Server.Auth;

/// <summary>The scheme <c>Basic</c> of ASP.NET Core over <see cref="BasicVerifier"/>.</summary>
internal sealed class BasicAuthenticationHandler(
    IOptionsMonitor<AuthenticationSchemeOptions> options,
    ILoggerFactory loggers,
    UrlEncoder encoder,
    BasicVerifier verifier,
    IOptionsMonitor<WebDavOptions> webDav) : AuthenticationHandler<AuthenticationSchemeOptions>(options, loggers, encoder)
{
    private const string Challenge = "Basic realm=\"Sluice\", charset=\"UTF-8\"";

    private bool _throttled;

    /// <inheritdoc/>
    protected override async Task<AuthenticateResult> HandleAuthenticateAsync()
    {
        // Whoever asks for what everybody may have is not worth a hash.
        if (Context.GetEndpoint()?.Metadata.GetMetadata<IAllowAnonymous>() is not null)
            return AuthenticateResult.NoResult();

        var address = Context.Connection.RemoteIpAddress;
        if (NeedsNoCredentials(address))
            return Success("network");

        if (Request.Headers.Authorization is not [{ Length: > 0 } header])
            return AuthenticateResult.NoResult();

        switch (await verifier.VerifyAsync(header, address, Context.RequestAborted))
        {
            case BasicVerdict.Accepted:
                return Success(webDav.CurrentValue.User);
            case BasicVerdict.Throttled:
                _throttled = true;
                return AuthenticateResult.Fail("Too many failed attempts.");
            default:
                if (verifier.IsWorthTelling(address))
                    AuthLog.Refused(Logger, address is { IsIPv4MappedToIPv6: true } ? address.MapToIPv4() : address);
                return AuthenticateResult.Fail("Wrong user or password.");
        }
    }

    /// <inheritdoc/>
    protected override Task HandleChallengeAsync(AuthenticationProperties properties)
    {
        if (_throttled)
        {
            Response.StatusCode = StatusCodes.Status429TooManyRequests;
            Response.Headers.RetryAfter = FailureThrottle.RetryAfterSeconds;
        }
        else if (!verifier.HasCredentials)
        {
            // Without the database nobody knows the password, and asking for it would only make clients forget theirs (DAV-6).
            Response.StatusCode = StatusCodes.Status503ServiceUnavailable;
            Response.Headers.RetryAfter = UnavailableGate.RetryAfterSeconds;
        }
        else
        {
            Response.StatusCode = StatusCodes.Status401Unauthorized;
            Response.Headers.WWWAuthenticate = Challenge;
        }

        return Task.CompletedTask;
    }

    private bool NeedsNoCredentials(IPAddress? address)
    {
        var networks = webDav.CurrentValue.NoAuthNetworks;
        if (networks.Count == 0 || address is null)
            return false;

        // A dual-stack listener sees IPv4 clients as ::ffff:a.b.c.d.
        if (address.IsIPv4MappedToIPv6)
            address = address.MapToIPv4();
        return networks.Any(network => network.Contains(address));
    }

    private AuthenticateResult Success(string name)
    {
        var identity = new ClaimsIdentity([new Claim(ClaimTypes.Name, name)], Scheme.Name);
        return AuthenticateResult.Success(new AuthenticationTicket(new ClaimsPrincipal(identity), Scheme.Name));
    }
}
