using System.Globalization;
using System.Text.Json.Serialization;
using Microsoft.AspNetCore.Http.HttpResults;
using Sluice.Server.Auth;
using Sluice.Server.Settings;

namespace Sluice.Server.AdminApi;

[JsonConverter(typeof(KebabCaseEnumConverter<KeyAccess>))]
internal enum KeyAccess
{
    Full,
    Read,
}

/// <summary>A named key, without the key itself.</summary>
internal sealed record KeyEntry(string Id, string Name, KeyAccess Access, DateTimeOffset Created, DateTimeOffset? LastUsed);

internal sealed record KeyEntries(IReadOnlyList<KeyEntry> Items);

/// <summary>A key to create. The password is the administrator's; null if this session has entered it recently.</summary>
internal sealed record NewKey(string Name, KeyAccess Access, string? Password = null) : IJsonBody<NewKey>;

/// <summary>A new key. Only this response contains it.</summary>
internal sealed record MadeKey(string Id, string Name, KeyAccess Access, string Key);

/// <summary>
/// A logged-in browser. Address and agent are empty if unknown, <c>LastUsed</c> is accurate to the hour, and <c>Current</c> marks the requesting session.
/// </summary>
internal sealed record SessionEntry(
    string Id, string Address, string Agent, DateTimeOffset Created, DateTimeOffset LastUsed, DateTimeOffset Ends, bool Current);

/// <summary>All active sessions, most recently used first.</summary>
internal sealed record SessionEntries(IReadOnlyList<SessionEntry> Items);

/// <summary><c>/api/keys</c>, <c>/api/sessions</c> and <c>/api/session/password</c>: lists, creates and ends credentials.</summary>
internal static class CredentialResource
{
    private const int MaxName = 64;

    public static void MapCredentials(this RouteGroupBuilder api)
    {
        api.MapPost("/session/password", GivePasswordAsync).WithName("GivePassword");
        api.MapGet("/keys", ListKeys).WithName("ListKeys");
        api.MapPost("/keys", MakeKeyAsync).WithName("MakeKey");
        api.MapDelete("/keys/{id}", RemoveKeyAsync).WithName("RemoveKey");
        api.MapGet("/sessions", ListSessions).WithName("ListSessions");
        api.MapDelete("/sessions/{id}", EndSessionAsync).WithName("EndSession");
    }

    /// <summary>Confirms the password for this session, so that its next calls may create credentials.</summary>
    private static async Task<Results<NoContent, JsonHttpResult<Problem>>> GivePasswordAsync(
        PasswordGiven given, HttpContext http, AdminStore store, AdminPassword password, CancellationToken cancellationToken) =>
        await PasswordGate.RefuseAsync(http, given.Password, store, password, cancellationToken) is { } problem ? problem : TypedResults.NoContent();

    private static Ok<KeyEntries> ListKeys(AdminStore store) => TypedResults.Ok(new KeyEntries(
    [
        .. store.Keys.Select(key => new KeyEntry(key.Id.ToString(CultureInfo.InvariantCulture), key.Name, AccessOf(key), key.Created, key.Used)),
    ]));

    private static async Task<Results<Ok<MadeKey>, JsonHttpResult<Problem>>> MakeKeyAsync(
        NewKey key, HttpContext http, AdminStore store, AdminPassword password, CancellationToken cancellationToken)
    {
        if (key.Name.Trim().Length is 0 or > MaxName || !SettingText.IsPlain(key.Name))
            return AdminProblem.BadInput("name", "Give the key a name of at most 64 characters.");
        if (key.Access == KeyAccess.Full && await PasswordGate.RefuseAsync(http, key.Password, store, password, cancellationToken) is { } problem)
            return problem;
        var (row, text) = await store.MakeKeyAsync(key.Name.Trim(), key.Access == KeyAccess.Full, cancellationToken);
        return TypedResults.Ok(new MadeKey(row.Id.ToString(CultureInfo.InvariantCulture), row.Name, AccessOf(row), text));
    }

    private static async Task<Results<NoContent, JsonHttpResult<Problem>>> RemoveKeyAsync(string id, AdminStore store, CancellationToken cancellationToken) =>
        long.TryParse(id, NumberStyles.None, CultureInfo.InvariantCulture, out var number) && await store.RemoveKeyAsync(number, cancellationToken)
            ? TypedResults.NoContent()
            : AdminProblem.NotFound("There is no such key.");

    private static Ok<SessionEntries> ListSessions(HttpContext http, AdminStore store)
    {
        var current = PasswordGate.SessionOf(http, store)?.Id;
        return TypedResults.Ok(new SessionEntries(
        [
            .. store.Sessions.Select(session => new SessionEntry(
                session.Id, session.Place.Address, session.Place.Agent, session.Created.Stored, session.Used.Stored, store.SessionEnds(session), session.Id == current)),
        ]));
    }

    private static async Task<Results<NoContent, JsonHttpResult<Problem>>> EndSessionAsync(string id, AdminStore store, CancellationToken cancellationToken) =>
        await store.EndListedSessionAsync(id, cancellationToken) ? TypedResults.NoContent() : AdminProblem.NotFound("There is no such session.");

    private static KeyAccess AccessOf(AdminKey key) => key.HasFullAccess ? KeyAccess.Full : KeyAccess.Read;
}
