using System.Security.Claims;
using System.Text.Encodings.Web;
using Microsoft.AspNetCore.Authentication;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Settings;

namespace Sluice.Server.Auth;

/// <summary>Judges the administrator's password: one hash at a time, and none for a sender that has guessed too often (S2).</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class AdminPassword(AdminStore store, FailureBudget failures) : IDisposable
{
    private const string What = "user or password of the administrator";

    private readonly SemaphoreSlim _turn = new(1);

    /// <summary>Whether they are right; null when the sender has to wait.</summary>
    public async Task<bool?> VerifyAsync(string user, string password, Caller caller, CancellationToken cancellationToken)
    {
        if (failures.IsSpent(caller))
            return null;
        await _turn.WaitAsync(cancellationToken);
        try
        {
            // Others of the same sender may have failed while this one waited.
            if (failures.IsSpent(caller))
                return null;
            // The hash is computed for a wrong name too, so that both take the same time (S1).
            var isRight = store.Admin is { } admin
                && await Task.Run(() => admin.Password.Verify(password), cancellationToken) & string.Equals(admin.Name, user, StringComparison.Ordinal);
            if (!isRight)
                failures.Add(caller, What);
            else if (store.Admin is { Password.IsImported: true } imported)
                await store.ChangeAccountAsync(imported with { Password = await Task.Run(() => PasswordHash.Create(password), cancellationToken) }, endsSessions: false, cancellationToken);
            return isRight;
        }
        finally
        {
            _turn.Release();
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _turn.Dispose();
}

/// <summary>The scheme of the admin API: the cookie of a session, or a named key in <c>X-Api-Key</c> (ADM-2). No other credential opens it.</summary>
internal sealed class AdminDoor(
    IOptionsMonitor<AuthenticationSchemeOptions> options, ILoggerFactory loggers, UrlEncoder encoder, AdminStore store, FailureBudget failures)
    : AuthenticationHandler<AuthenticationSchemeOptions>(options, loggers, encoder)
{
    /// <summary>Name of the scheme and of its policy.</summary>
    public const string Name = "Admin";

    /// <summary>Claim with what the caller came with: <see cref="Session"/>, <see cref="FullKey"/> or <see cref="ReadKey"/>.</summary>
    public const string Kind = "kind";

    /// <summary>A browser that has logged in.</summary>
    public const string Session = "session";

    /// <summary>A named key that may change things.</summary>
    public const string FullKey = "full";

    /// <summary>A named key that may only read.</summary>
    public const string ReadKey = "read";

    private const string What = "named key";

    private bool _isThrottled;

    /// <summary>The name of the session's cookie.</summary>
    public static string CookieOf(AdminStore store) => $"sluice-{store.Instance}";

    /// <inheritdoc/>
    protected override async Task<AuthenticateResult> HandleAuthenticateAsync()
    {
        if (Request.Headers["X-Api-Key"] is [{ Length: > 0 } text])
            return await JudgeKeyAsync(text);
        if (Request.Cookies[CookieOf(store)] is not { Length: > 0 } id || store.SessionEnds(id) is null || store.Admin is not { } admin)
            return AuthenticateResult.NoResult();
        await NoteAsync(() => store.UseSessionAsync(id, SessionPlace.Of(Context), Context.RequestAborted));
        return Success(admin.Name, Session);
    }

    /// <inheritdoc/>
    protected override Task HandleChallengeAsync(AuthenticationProperties properties)
    {
        Response.StatusCode = _isThrottled ? StatusCodes.Status429TooManyRequests : StatusCodes.Status401Unauthorized;
        if (_isThrottled)
            Response.Headers.RetryAfter = FailureBudget.RetryAfterSeconds;
        return Task.CompletedTask;
    }

    private async Task<AuthenticateResult> JudgeKeyAsync(string text)
    {
        if (store.FindKey(text) is { } key)
        {
            await NoteAsync(() => store.UseKeyAsync(key, Context.RequestAborted));
            return Success(key.Name, key.HasFullAccess ? FullKey : ReadKey);
        }

        var caller = Caller.Of(Context);
        _isThrottled = failures.IsSpent(caller);
        if (!_isThrottled)
            failures.Add(caller, What);
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
            // The storage has told of it; when a credential was used last is worth no refusal.
        }
    }

    private AuthenticateResult Success(string name, string kind)
    {
        var identity = new ClaimsIdentity([new Claim(ClaimTypes.Name, name), new Claim(Kind, kind)], Scheme.Name);
        return AuthenticateResult.Success(new AuthenticationTicket(new ClaimsPrincipal(identity), Scheme.Name));
    }
}
