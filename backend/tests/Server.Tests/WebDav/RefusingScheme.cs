using System.Text.Encodings.Web;
using Microsoft.AspNetCore.Authentication;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Sluice.Server.Tests.WebDav;

/// <summary>An authentication scheme that rejects all credentials.</summary>
internal sealed class RefusingScheme(IOptionsMonitor<AuthenticationSchemeOptions> options, ILoggerFactory loggers, UrlEncoder encoder)
    : AuthenticationHandler<AuthenticationSchemeOptions>(options, loggers, encoder)
{
    protected override Task<AuthenticateResult> HandleAuthenticateAsync() => Task.FromResult(AuthenticateResult.NoResult());
}
