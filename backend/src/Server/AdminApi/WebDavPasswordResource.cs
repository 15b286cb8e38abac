using Microsoft.AspNetCore.Http.HttpResults;
using Microsoft.Extensions.Options;
using Sluice.Server.Auth;
using Sluice.Server.Settings;

namespace Sluice.Server.AdminApi;

/// <summary>
/// The login for players and mounts. The password is null if it was generated before this startup, is set by the environment, or the caller's key is read-only.
/// <c>LockedOut</c> lists the clients of the last day that need the new password.
/// </summary>
internal sealed record WebDavAccess(string Url, string User, string? Password, IReadOnlyList<string> LockedOut);

/// <summary><c>/api/setup/webdav</c> and <c>/api/settings/webdav-password</c>: the WebDAV password, while it can be shown.</summary>
internal static class WebDavPasswordResource
{
    private const string Key = "webdav.pass";

    public static void MapWebDavPassword(this RouteGroupBuilder api)
    {
        api.MapGet("/setup/webdav", Show).WithName("ShowWebDavAccess");
        api.MapPost("/settings/webdav-password", MakeAsync).WithName("MakeWebDavPassword");
    }

    private static Ok<WebDavAccess> Show(HttpContext http, MadePassword made, SettingsSource settings, IOptionsMonitor<GeneralOptions> general)
    {
        var mayBeShown = settings.Current[Key].Origin != SettingOrigin.Environment && http.User.FindFirst(AdminDoor.Kind)?.Value != AdminDoor.ReadKey;
        return TypedResults.Ok(Access(settings, general, mayBeShown ? made.Password : null, []));
    }

    private static async Task<Results<Ok<WebDavAccess>, JsonHttpResult<Problem>>> MakeAsync(
        HttpContext http,
        MadePassword made,
        RecentClients clients,
        SettingsStore store,
        SettingsSource settings,
        IOptionsMonitor<GeneralOptions> general,
        AdminStore admins,
        AdminPassword judge,
        CancellationToken cancellationToken)
    {
        if (settings.Current[Key] is { Origin: SettingOrigin.Environment } locked)
            return AdminProblem.WrongState($"The password is set by the environment variable {locked.Variable}. Change it there.");
        if (await PasswordGate.RefuseAsync(http, given: null, admins, judge, cancellationToken) is { } problem)
            return problem;
        var password = MadePassword.Make();
        if (await store.SaveAsync(new Dictionary<string, string?> { [Key] = password }, cancellationToken) is { Count: > 0 } errors)
            return AdminProblem.BadInput(errors);
        var lockedOut = clients.ListPasswordUsers();
        clients.Clear();
        made.Show(password);
        return TypedResults.Ok(Access(settings, general, password, lockedOut));
    }

    private static WebDavAccess Access(SettingsSource settings, IOptionsMonitor<GeneralOptions> general, string? password, IReadOnlyList<string> lockedOut) => new(
        $"{settings.Current.Text("general.base-url")}{general.CurrentValue.UrlBase}/", settings.Current.Text("webdav.user"), password, lockedOut);
}
