using System.Security.Claims;
using System.Text.Encodings.Web;
using Microsoft.AspNetCore.Authentication;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;

namespace Sluice.Server.Auth;

/// <summary>Verifies the administrator's login. The slow hash runs in the queue shared by all logins (S2). Thread-safe.</summary>
internal sealed class AdminPassword(AdminStore store, FailureBudget failures, HashLine line)
{
    private long _hashes;

    /// <summary>Number of slow hashes started for login attempts.</summary>
    public long Hashes => Interlocked.Read(ref _hashes);

    public async Task<LoginVerdict> VerifyAsync(string user, string password, Caller caller, CancellationToken cancellationToken)
    {
        if (store.Admin is not { } admin)
            return LoginVerdict.Refused;
        // The mark covers the stored login, so that a failure against an earlier login does not count against the current one.
        var mark = failures.Mark(string.Join('\0', admin.Name, admin.Password, user, password));
        if (failures.WasWrong(CredentialKind.AdminPassword, caller, mark))
            return LoginVerdict.Refused;
        if (failures.IsSpent(CredentialKind.AdminPassword, caller))
            return LoginVerdict.Throttled;

        var rank = caller.Browser is null ? failures.Rank(CredentialKind.AdminPassword, caller) : HashLine.Known;
        switch (await line.JudgeAsync(new HashAttempt(CredentialKind.AdminPassword, mark, () => IsRight(user, password)), caller, rank, cancellationToken))
        {
            case null:
                return LoginVerdict.Busy;
            case false:
                return LoginVerdict.Refused;
        }

        if (store.Admin is { Password.IsImported: true } imported && await Task.Run(() => imported.Password.Renew(password), cancellationToken) is { } renewed)
            await store.RenewPasswordAsync(imported, renewed, cancellationToken);
        return LoginVerdict.Accepted;
    }

    /// <summary>Hashes the password even if the name is wrong, so that response times do not reveal names (S1).</summary>
    private bool IsRight(string user, string password)
    {
        Interlocked.Increment(ref _hashes);
        return store.Admin is { } admin && admin.Password.Verify(password) & string.Equals(admin.Name, user, StringComparison.OrdinalIgnoreCase);
    }
}

/// <summary>Marks an endpoint that also accepts a named key as a bearer token, because Prometheus cannot send the key in another header (OPS-32).</summary>
internal sealed class BearerKeys;

/// <summary>
/// Authenticates the admin API only by a session cookie or a named key in <c>X-Api-Key</c> (ADM-2). Endpoints with <see cref="BearerKeys"/> also accept the key
/// as a bearer token.
/// </summary>
internal sealed class AdminDoor(
    IOptionsMonitor<AuthenticationSchemeOptions> options, ILoggerFactory loggers, UrlEncoder encoder, AdminStore store, FailureBudget failures)
    : AuthenticationHandler<AuthenticationSchemeOptions>(options, loggers, encoder)
{
    /// <summary>Name of the authentication scheme and of its policy.</summary>
    public const string Name = "Admin";

    /// <summary>Claim that states the kind of credential: <see cref="Session"/>, <see cref="FullKey"/> or <see cref="ReadKey"/>.</summary>
    public const string Kind = "kind";

    public const string Session = "session";

    /// <summary>A named key that may also write.</summary>
    public const string FullKey = "full";

    public const string ReadKey = "read";

    private const string Bearer = "Bearer ";

    private bool _isThrottled;

    public static string CookieOf(AdminStore store) => $"sluice-{store.Instance}";

    protected override async Task<AuthenticateResult> HandleAuthenticateAsync()
    {
        if (KeyOf(Request) is { } text)
            return await JudgeKeyAsync(text);
        if (Request.Cookies[CookieOf(store)] is not { Length: > 0 } id || store.SessionEnds(id) is null || store.Admin is not { } admin)
            return AuthenticateResult.NoResult();
        await NoteAsync(() => store.UseSessionAsync(id, SessionPlace.Of(Context), Context.RequestAborted));
        return Success(admin.Name, Session);
    }

    protected override Task HandleChallengeAsync(AuthenticationProperties properties)
    {
        Response.StatusCode = _isThrottled ? StatusCodes.Status429TooManyRequests : StatusCodes.Status401Unauthorized;
        if (_isThrottled)
            Response.Headers.RetryAfter = FailureBudget.RetryAfterSeconds;
        return Task.CompletedTask;
    }

    private static string? KeyOf(HttpRequest request)
    {
        if (request.Headers["X-Api-Key"] is [{ Length: > 0 } key])
            return key;
        return request.HttpContext.GetEndpoint()?.Metadata.GetMetadata<BearerKeys>() is not null
            && request.Headers.Authorization is [{ } credentials] && credentials.StartsWith(Bearer, StringComparison.OrdinalIgnoreCase)
                ? credentials[Bearer.Length..].Trim()
                : null;
    }

    private async Task<AuthenticateResult> JudgeKeyAsync(string text)
    {
        if (store.FindKey(text) is { } key)
        {
            await NoteAsync(() => store.UseKeyAsync(key, Context.RequestAborted));
            return Success(key.Name, key.HasFullAccess ? FullKey : ReadKey);
        }

        _isThrottled = !failures.TryAdd(CredentialKind.NamedKey, Caller.Of(Context), failures.Mark(text));
        return AuthenticateResult.Fail("No such key.");
    }

    private static async Task NoteAsync(Func<Task> note)
    {
        try
        {
            await note();
        }
        catch (Exception e) when (e is StorageException or DatabaseLostException)
        {
            // Serve the request anyway: the storage error is already logged, and only the last-use time is lost.
        }
    }

    private AuthenticateResult Success(string name, string kind)
    {
        var identity = new ClaimsIdentity([new Claim(ClaimTypes.Name, name), new Claim(Kind, kind)], Scheme.Name);
        return AuthenticateResult.Success(new AuthenticationTicket(new ClaimsPrincipal(identity), Scheme.Name));
    }
}
