using System.Security.Claims;
using System.Text.Encodings.Web;
using Microsoft.AspNetCore.Authentication;
using Microsoft.AspNetCore.Authorization;
using Microsoft.Extensions.Options;
using Sluice.Server.Settings;

namespace Sluice.Server.Auth;

/// <summary>ASP.NET Core handler for Basic authentication, backed by <see cref="BasicVerifier"/>.</summary>
internal sealed class BasicAuthenticationHandler(
    IOptionsMonitor<AuthenticationSchemeOptions> options,
    ILoggerFactory loggers,
    UrlEncoder encoder,
    BasicVerifier verifier,
    RecentClients clients,
    RcloneClients rclone,
    IOptionsMonitor<WebDavOptions> webDav,
    IOptionsMonitor<GeneralOptions> general) : AuthenticationHandler<AuthenticationSchemeOptions>(options, loggers, encoder)
{
    private const string Challenge = "Basic realm=\"Sluice\", charset=\"UTF-8\"";

    private string? _retryAfter;
    private string? _passRefusal;

    protected override async Task<AuthenticateResult> HandleAuthenticateAsync()
    {
        // Open endpoints need no login, so skip the slow hash.
        if (Context.GetEndpoint()?.Metadata.GetMetadata<IAllowAnonymous>() is not null)
            return AuthenticateResult.NoResult();

        if (NetworkPass.Find(Context, webDav.CurrentValue.NoAuthNetworks, general.CurrentValue, out _passRefusal) is { } pass)
            return Success(pass.Name, hasPassword: false);

        if (Request.Headers.Authorization is not [{ Length: > 0 } header])
        {
            if (_passRefusal is not null)
                AuthLog.PassRefused(Logger, _passRefusal);
            return AuthenticateResult.NoResult();
        }

        switch (await verifier.VerifyAsync(header, Caller.Of(Context), Context.RequestAborted))
        {
            case LoginVerdict.Accepted:
                return Success(webDav.CurrentValue.User, hasPassword: true);
            case LoginVerdict.Throttled:
                _retryAfter = FailureBudget.RetryAfterSeconds;
                return AuthenticateResult.Fail("Too many failed attempts.");
            case LoginVerdict.Busy:
                _retryAfter = HashLine.RetryAfterSeconds;
                return AuthenticateResult.Fail("Too many attempts at a time.");
            default:
                return AuthenticateResult.Fail("Wrong username or password.");
        }
    }

    protected override async Task HandleChallengeAsync(AuthenticationProperties properties)
    {
        if (_retryAfter is not null)
        {
            Response.StatusCode = StatusCodes.Status429TooManyRequests;
            Response.Headers.RetryAfter = _retryAfter;
        }
        else if (!verifier.HasCredentials)
        {
            // The password cannot be checked while the database is unavailable, and a 401 would make clients discard theirs (DAV-6).
            Response.StatusCode = StatusCodes.Status503ServiceUnavailable;
            Response.Headers.RetryAfter = UnavailableGate.RetryAfterSeconds;
        }
        else
        {
            Response.StatusCode = StatusCodes.Status401Unauthorized;
            Response.Headers.WWWAuthenticate = Challenge;
            if (_passRefusal is not null)
            {
                Response.ContentType = "text/plain; charset=utf-8";
                await Response.WriteAsync(_passRefusal + "\n", Context.RequestAborted);
            }
        }
    }

    private AuthenticateResult Success(string name, bool hasPassword)
    {
        clients.Note(Context, hasPassword);
        rclone.Note(Context);
        var identity = new ClaimsIdentity([new Claim(ClaimTypes.Name, name)], Scheme.Name);
        return AuthenticateResult.Success(new AuthenticationTicket(new ClaimsPrincipal(identity), Scheme.Name));
    }
}
