using System.Security.Claims;
using System.Text.Encodings.Web;
using Microsoft.AspNetCore.Authentication;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.Extensions.Options;
using Sluice.Server.Auth;

namespace Sluice.Server.WebDav.Tree;

/// <summary>Authenticates <c>/view</c> by the key in the link, or else by Basic authentication like the rest of the tree (DAV-83).</summary>
internal sealed class ViewAuthenticationHandler(
    IOptionsMonitor<AuthenticationSchemeOptions> options,
    ILoggerFactory loggers,
    UrlEncoder encoder,
    ViewKey keys) : AuthenticationHandler<AuthenticationSchemeOptions>(options, loggers, encoder)
{
    public const string SchemeName = "View";

    private ViewVerdict _verdict = ViewVerdict.Missing;

    protected override async Task<AuthenticateResult> HandleAuthenticateAsync()
    {
        var target = Context.Features.GetRequiredFeature<IHttpRequestFeature>().RawTarget;
        if (ViewLink.Read(Context, target) is { } link)
            _verdict = keys.Verify(link.SignedPath, link.Key, link.Expires, Caller.Of(Context));
        switch (_verdict)
        {
            case ViewVerdict.Accepted:
                var identity = new ClaimsIdentity([new Claim(ClaimTypes.Name, "link")], Scheme.Name);
                return AuthenticateResult.Success(new AuthenticationTicket(new ClaimsPrincipal(identity), Scheme.Name));
            case ViewVerdict.Expired:
                return AuthenticateResult.Fail("The link has run out.");
            default:
                return await Context.AuthenticateAsync(AuthRegistration.BasicScheme);
        }
    }

    protected override async Task HandleChallengeAsync(AuthenticationProperties properties)
    {
        switch (_verdict)
        {
            case ViewVerdict.Expired:
                Response.StatusCode = StatusCodes.Status403Forbidden;
                break;
            case ViewVerdict.Locked:
                await UnavailableGate.RefuseLockedLinkAsync(Context);
                break;
            case ViewVerdict.Throttled:
                Response.StatusCode = StatusCodes.Status429TooManyRequests;
                Response.Headers.RetryAfter = FailureBudget.RetryAfterSeconds;
                break;
            default:
                await Context.ChallengeAsync(AuthRegistration.BasicScheme);
                break;
        }
    }
}
