using Microsoft.AspNetCore.Http.HttpResults;
using Microsoft.Extensions.Options;
using Sluice.Server.Auth;
using Sluice.Server.Diagnostics;
using Sluice.Server.Listening;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.AdminApi;

/// <summary><c>/api/setup</c>, <c>/api/session</c> and <c>/api/account</c>: setup and login (ADM-2, S7).</summary>
internal static class SessionResource
{
    private const int MaxName = 64;

    private static readonly string Version = typeof(SessionResource).Assembly.GetName().Version?.ToString(3) ?? "";

    public static void MapAccess(this RouteGroupBuilder api)
    {
        api.MapGet("/setup", ShowSetup).OpenAs(OpenEndpoint.Setup).WithName("ShowSetup");
        api.MapPost("/setup", SetUpAsync).OpenAs(OpenEndpoint.Setup).WithName("SetUp");
        api.MapPut("/setup", AdvanceAsync).WithName("AdvanceSetup");
        api.MapPost("/session", LogInAsync).OpenAs(OpenEndpoint.Session).WithName("LogIn");
        api.MapGet("/session", ShowSession).WithName("ShowSession");
        api.MapDelete("/session", LogOutAsync).WithName("LogOut");
        api.MapPut("/account", ChangeAccountAsync).WithName("ChangeAccount");
    }

    public static SetupState StateOf(AdminStore store) => new(
        store.Admin is not null, StageOf(store), store.Admin is null, store.Admin is null && store.Keys.Count > 0 ? true : null);

    /// <summary>Refuses a login without checking it, because there were too many wrong attempts or are too many concurrent logins.</summary>
    public static JsonHttpResult<Problem> Wait(HttpContext http, LoginVerdict verdict)
    {
        var isBusy = verdict == LoginVerdict.Busy;
        http.Response.Headers.RetryAfter = isBusy ? HashLine.RetryAfterSeconds : FailureBudget.RetryAfterSeconds;
        var sentence = isBusy ? "Too many others are logging in. Try again in a few seconds." : "Too many wrong attempts. Wait a minute.";
        return AdminProblem.Of(StatusCodes.Status429TooManyRequests, "too-many", sentence);
    }

    private static Ok<SetupState> ShowSetup(AdminStore store) => TypedResults.Ok(StateOf(store));

    private static async Task<Results<Ok<Session>, JsonHttpResult<Problem>>> SetUpAsync(
        SetupRequest request,
        HttpContext http,
        AdminStore store,
        SetupCode code,
        FailureBudget failures,
        SettingsStore settings,
        SettingsSource values,
        CancellationToken cancellationToken)
    {
        if (store.Admin is not null)
            return AdminProblem.WrongState("Setup is complete. Log in.");
        var caller = Caller.Of(http);
        if (failures.IsSpent(CredentialKind.SetupCode, caller))
            return Wait(http, LoginVerdict.Throttled);
        if (!code.Is(request.Code))
        {
            failures.TryAdd(CredentialKind.SetupCode, caller, failures.Mark(request.Code));
            return AdminProblem.BadInput("code", "That's not the code. You'll find it in the log and in the file setup-code in the data folder.");
        }

        var errors = Judge(request.User, request.Password, "password", out var chosen);
        if (errors.Count > 0)
            return AdminProblem.BadInput(errors);
        var password = await Task.Run(() => PasswordHash.Create(chosen!), cancellationToken);
        if (request.EndKeys)
            await store.RemoveKeysAsync(cancellationToken);
        if (!await store.CreateAsync(request.User, password, WordOf(SetupStage.Provider), cancellationToken))
            return AdminProblem.WrongState("Setup is complete. Log in.");
        code.End();
        await KeepOriginAsync(request.Origin, settings, values, cancellationToken);
        return await OpenAsync(http, store, cancellationToken);
    }

    /// <summary>Saves the address in the browser as <c>general.base-url</c> if none is set, because links start with it. Otherwise allows its host.</summary>
    private static async Task KeepOriginAsync(string? origin, SettingsStore settings, SettingsSource values, CancellationToken cancellationToken)
    {
        if (!Uri.TryCreate(origin, UriKind.Absolute, out var url) || url.IsLoopback)
            return;
        var (key, value) = values.Current["general.base-url"].Origin == SettingOrigin.Default
            ? ("general.base-url", url.GetLeftPart(UriPartial.Authority))
            : ("general.allowed-hosts", url.Host);
        if (values.Current[key].Origin != SettingOrigin.Default)
            return;
        // The store refuses an unusable address; the default then stays in effect.
        _ = await settings.SaveAsync(new Dictionary<string, string?> { [key] = value }, cancellationToken);
    }

    private static async Task<Results<Ok<SetupState>, JsonHttpResult<Problem>>> AdvanceAsync(
        SetupStep step, AdminStore store, MadePassword made, CancellationToken cancellationToken)
    {
        if (step.Step == SetupStage.Account || store.Admin is not { } admin)
            return AdminProblem.BadInput("step", "The setup does not go back to the account.");
        await store.ChangeAccountAsync(admin with { Step = WordOf(step.Step) }, endsSessions: false, cancellationToken);
        if (step.Step == SetupStage.Done)
            made.Forget();
        return ShowSetup(store);
    }

    private static async Task<Results<Ok<Session>, JsonHttpResult<Problem>>> LogInAsync(
        Login login, HttpContext http, AdminStore store, AdminPassword password, KnownBrowser browser, CancellationToken cancellationToken)
    {
        if (store.Admin is null)
            return AdminProblem.Of(StatusCodes.Status503ServiceUnavailable, "setup-needed", "Set up the server first.");
        return await password.VerifyAsync(login.User, login.Password, browser.CallerOf(http), cancellationToken) switch
        {
            LoginVerdict.Accepted => await OpenAsync(http, store, cancellationToken),
            LoginVerdict.Refused => AdminProblem.Of(StatusCodes.Status401Unauthorized, "unauthorized", "Wrong username or password."),
            var verdict => Wait(http, verdict),
        };
    }

    private static Ok<Session> ShowSession(HttpContext http, AdminStore store) => TypedResults.Ok(Shape(
        http.User.Identity?.Name ?? "",
        http.Request.Cookies[AdminDoor.CookieOf(store)] is { } id && store.SessionEnds(id) is { } ends ? ends : DateTimeOffset.MaxValue,
        http,
        store));

    private static async Task<NoContent> LogOutAsync(HttpContext http, AdminStore store, CancellationToken cancellationToken)
    {
        if (http.Request.Cookies[AdminDoor.CookieOf(store)] is { } id)
            await store.EndSessionAsync(id, cancellationToken);
        http.Response.Cookies.Delete(AdminDoor.CookieOf(store), Cookie(http, null));
        return TypedResults.NoContent();
    }

    private static async Task<Results<Ok<Session>, JsonHttpResult<Problem>>> ChangeAccountAsync(
        AccountChange change, HttpContext http, AdminStore store, AdminPassword password, KnownBrowser browser, CancellationToken cancellationToken)
    {
        if (store.Admin is not { } admin)
            return AdminProblem.WrongState("Set up the server first.");
        switch (await password.VerifyAsync(admin.Name, change.OldPassword, browser.CallerOf(http), cancellationToken))
        {
            case LoginVerdict.Accepted:
                break;
            case LoginVerdict.Refused:
                return AdminProblem.BadInput("oldPassword", "The password is wrong.");
            case var verdict:
                return Wait(http, verdict);
        }

        var errors = Judge(change.User, change.NewPassword, "newPassword", out var chosen);
        if (errors.Count > 0)
            return AdminProblem.BadInput(errors);
        var hash = chosen is not null ? await Task.Run(() => PasswordHash.Create(chosen), cancellationToken) : admin.Password;
        if (change.EndKeys)
            await store.RemoveKeysAsync(cancellationToken);
        await store.ChangeAccountAsync(admin with { Name = change.User, Password = hash }, endsSessions: change.NewPassword is not null, cancellationToken);
        return change.NewPassword is null ? ShowSession(http, store) : await OpenAsync(http, store, cancellationToken);
    }

    private static async Task<Ok<Session>> OpenAsync(HttpContext http, AdminStore store, CancellationToken cancellationToken)
    {
        http.Prove();
        var id = await store.OpenSessionAsync(SessionPlace.Of(http), cancellationToken);
        var ends = store.SessionEnds(id)!.Value;
        http.Response.Cookies.Append(AdminDoor.CookieOf(store), id, Cookie(http, ends));
        var clock = http.RequestServices.GetRequiredService<TimeProvider>();
        await http.RequestServices.GetRequiredService<KnownBrowser>().RememberAsync(http, lifetime => Cookie(http, clock.WallTime() + lifetime));
        return TypedResults.Ok(Shape(store.Admin!.Name, ends, http, store));
    }

    private static CookieOptions Cookie(HttpContext http, DateTimeOffset? ends) => new()
    {
        HttpOnly = true,
        SameSite = SameSiteMode.Strict,
        Secure = http.RequestServices.GetRequiredService<IOptionsMonitor<AuthOptions>>().CurrentValue.SecureCookies ?? http.Request.IsHttps,
        Path = http.Request.PathBase.HasValue ? http.Request.PathBase.Value : "/",
        Expires = ends,
    };

    private static Session Shape(string user, DateTimeOffset ends, HttpContext http, AdminStore store) => new(
        user,
        ends,
        "1",
        http.RequestServices.GetRequiredService<Readiness>().IsSafeMode ? "safe" : "normal",
        Version,
        StageOf(store),
        [.. http.RequestServices.GetRequiredService<IOptionsMonitor<WebDavOptions>>().CurrentValue.NoAuthNetworks.Select(static network => network.ToString())]);

    /// <summary>Returns the errors in a name and a new password. If the password is null, it stays unchanged.</summary>
    private static Dictionary<string, string[]> Judge(string user, string? password, string field, out ChosenPassword? chosen)
    {
        var errors = new Dictionary<string, string[]>();
        if (user.Trim().Length is 0 or > MaxName || !SettingText.IsPlain(user))
            errors["user"] = ["Choose a username of at most 64 characters."];
        chosen = password is null ? null : ChosenPassword.Judge(password);
        if (password is not null && chosen is null)
            errors[field] = [$"Must be {ChosenPassword.Rule}."];
        return errors;
    }

    private static SetupStage StageOf(AdminStore store) =>
        store.Admin is { } admin ? Enum.TryParse<SetupStage>(admin.Step, ignoreCase: true, out var stage) ? stage : SetupStage.Done : SetupStage.Account;

    private static string WordOf(SetupStage stage) => stage.ToString().ToLowerInvariant();
}
