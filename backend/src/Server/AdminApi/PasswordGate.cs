using Microsoft.AspNetCore.Http.HttpResults;
using Sluice.Server.Auth;

namespace Sluice.Server.AdminApi;

internal sealed record PasswordGiven(string Password) : IJsonBody<PasswordGiven>;

/// <summary>
/// Requires the administrator's password before a credential is created that outlives the session. Otherwise, a browser left open for a minute could give
/// access to the server forever. A session that entered the password in the last ten minutes is not asked again. A named key is always asked, because it must
/// not create credentials that outlive it.
/// </summary>
internal static class PasswordGate
{
    /// <summary>Returns why a call may not create a credential, or null.</summary>
    public static async Task<JsonHttpResult<Problem>?> RefuseAsync(
        HttpContext http, string? given, AdminStore store, AdminPassword password, CancellationToken cancellationToken)
    {
        // Before the setup no password exists, so there is nothing to check.
        if (store.Admin is not { } admin)
            return null;
        var session = http.User.FindFirst(AdminDoor.Kind)?.Value == AdminDoor.Session ? SessionOf(http, store) : null;
        if (given is null)
        {
            return session is not null && store.IsProved(session)
                ? null
                : AdminProblem.Of(StatusCodes.Status403Forbidden, "password-needed", "Enter your password again to continue.");
        }

        var browser = http.RequestServices.GetRequiredService<KnownBrowser>();
        switch (await password.VerifyAsync(admin.Name, given, browser.CallerOf(http), cancellationToken))
        {
            case LoginVerdict.Accepted:
                break;
            case LoginVerdict.Refused:
                return AdminProblem.BadInput("password", "The password is wrong.");
            case var verdict:
                return SessionResource.Wait(http, verdict);
        }

        if (session is not null)
            await store.ProveSessionAsync(session, cancellationToken);
        return null;
    }

    /// <summary>Returns the session of a call; null if the call uses another credential.</summary>
    public static AdminSession? SessionOf(HttpContext http, AdminStore store) =>
        http.Request.Cookies[AdminDoor.CookieOf(store)] is { Length: > 0 } id ? store.FindSession(id) : null;
}
